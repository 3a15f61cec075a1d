(* What a certificate of kind releases shows: a program whose releases are of its numbers keeps the bound, whatever its
   data are, where a record, or all records of one person, come, go, or are replaced. *)
From Coq Require Import Reals QArith Qreals Qabs List Lra Lia Bool ZArith Permutation FunctionalExtensionality.
From Dpaudit Require Import Law Tree Shifts Farkas Null Composition Releases_check Releases_kinds Series.
Import ListNotations.
Open Scope R_scope.
Opaque below_exp.   (* its numbers are long *)

Section Meaning.
Variable c : releases_certificate.
Variable I : draw -> law.

(* ---- data: a list of what comes or goes as a whole, each of which is records with weights ---- *)
(* A record has weight 1.  Of a person with at most k records each has weight 1/k, and the certificate gives what k such
   records add; fewer are as many that add 0. *)
Definition unit_of_privacy := list (R * record).
(* Which units there are, such as single records: possible says it, and the theorem holds for every choice. *)
Variable possible : unit_of_privacy -> Prop.
Definition is_unit (u : unit_of_privacy) := possible u /\ Forall (fun wr => 0 <= fst wr /\ in_domain (columns c) (snd wr)) u /\ lsum fst u = 1.
Definition data := list unit_of_privacy.
Definition kind (r : record) : list bool := answersR (tests c) r.
Definition presence (u : unit_of_privacy) (t : term) : R := lsum (fun wr => if is_in (kind (snd wr)) t then fst wr else 0) u.

(* ---- numbers that are made of data ---- *)
Definition adds (t : term) (T : data -> R) : Prop := forall A u B, is_unit u ->
  Q2R (tlow t) * presence u t <= T (A ++ u :: B) - T (A ++ B) <= Q2R (thigh t) * presence u t.
(* An absolute value; what is cut off at constants; and, of several numbers, the largest, the smallest, the median. *)
Definition bends (b : bend) (S : list R -> R) (n : nat) : Prop :=
  match b with
  | Abs => n = 1%nat /\ forall x y, Rabs (S [y] - S [x]) <= Rabs (y - x)
  | Clip => n = 1%nat /\ forall x y, x <= y -> 0 <= S [y] - S [x] <= y - x
  | Among => n <> 0%nat /\ forall xs ys a b, length xs = n -> Forall2 (fun x y => a <= y - x <= b) xs ys -> a <= S ys - S xs <= b
  end.
Fixpoint means (v : value) (gs : list (data -> R)) : Prop :=
  match v with
  | Constant => exists k g, gs = [g] /\ forall D, g D = k
  | Plus t w => exists g T h, gs = [g] /\ adds t T /\ means w [h] /\ forall D, g D = T D + h D
  | Bent b f inner rest => exists g S hs h, gs = [g] /\ bends b S (length hs) /\ means inner hs /\ means rest [h] /\
      forall D, g D = Q2R f * S (map (fun h => h D) hs) + h D
  | Several a b => exists g h, gs = g ++ h /\ means a g /\ means b h
  end.

(* ---- releases ---- *)
Definition chances (r : release) (xs : list R) : list (R * R) :=   (* what is released, and how likely, up to a factor *)
  map (fun ix => (INR (fst ix), exp (snd ix / Q2R (rscale r)))) (combine (seq 0 (length xs)) xs).
Fixpoint reported (p : R) (bits : list bool) (f : list R -> R) : R :=   (* each bit flipped with probability p, by itself *)
  match bits with
  | [] => f []
  | b :: r => (1 - p) * reported p r (fun o => f ((if b then 1 else 0)%R :: o)) + p * reported p r (fun o => f ((if b then 0 else 1)%R :: o))
  end.
Definition is_release (r : release) (K : data -> output_law) : Prop :=
  exists gs, Forall2 (fun v g => means v [g]) (rvalues r) gs /\
  match rlaw r with
  | Added m =>
      (m = DLaplace -> forall D g, In g gs -> exists z : Z, g D = IZR z) /\
      forall D f, bounded f -> M (K D) f = integ I (repeat (Dr m (rscale r)) (length gs)) (fun h => f (vadd (map (fun g => g D) gs) h))
  | Choice =>
      gs <> [] /\
      forall D f, bounded f -> M (K D) f = lsum (fun oe => snd oe * f [fst oe]) (chances r (map (fun g => g D) gs)) /
                                          lsum snd (chances r (map (fun g => g D) gs))
  | Reports p _ =>   (* a value counts bits, one of each unit *)
      exists bits : list (unit_of_privacy -> bool),
      Forall2 (fun (b : unit_of_privacy -> bool) (g : data -> R) => forall D, g D = lsum (fun u => if b u then 1 else 0) D) bits gs /\
      forall D f, bounded f -> M (K D) f = reported (Q2R p) (flat_map (fun b => map b D) bits) f
  end.

(* ---- how far numbers move ---- *)
Definition mixed (W : list (R * change)) (q : change -> Q) : R := lsum (fun wp => fst wp * Q2R (q (snd wp))) W.
Definition changed (W : list (R * change)) (D D' : data) : Prop := forall t T, adds t T ->
  mixed W (fun p => fst (moved_term t p)) <= T D' - T D <= mixed W (fun p => snd (moved_term t p)).
Definition weights (W : list (R * change)) : Prop := forall wp, In wp W -> 0 <= fst wp.

Lemma mixed_le : forall W q q', weights W -> (forall p, Q2R (q p) <= Q2R (q' p)) -> mixed W q <= mixed W q'.
Proof. intros. apply lsum_le. intros wp Hi. apply Rmult_le_compat_l; auto. Qed.
Lemma mixed_add : forall W q q' q'', (forall p, Q2R (q p) = Q2R (q' p) + Q2R (q'' p)) -> mixed W q = mixed W q' + mixed W q''.
Proof. intros. unfold mixed. induction W; simpl; [lra|]. rewrite IHW, H. ring. Qed.
Lemma mixed_scale : forall W k q q', (forall p, Q2R (q' p) = k * Q2R (q p)) -> mixed W q' = k * mixed W q.
Proof. intros. unfold mixed. induction W; simpl; [lra|]. rewrite IHW, H. ring. Qed.
Lemma mixed_pos : forall W q, weights W -> (forall p, 0 <= Q2R (q p)) -> 0 <= mixed W q.
Proof. intros. apply lsum_pos. intros wp Hi. apply Rmult_le_pos; auto. Qed.

Lemma Q2R_qmax : forall a b, Q2R (qmax a b) = Rmax (Q2R a) (Q2R b).
Proof.
  intros. unfold qmax. destruct (Qle_bool a b) eqn:E; [apply Qle_bool_R in E; rewrite Rmax_right; auto|].
  apply Qle_bool_false in E. rewrite Rmax_left; lra.
Qed.
Lemma Q2R_qmin : forall a b, Q2R (qmin a b) = Rmin (Q2R a) (Q2R b).
Proof.
  intros. unfold qmin. destruct (Qle_bool a b) eqn:E; [apply Qle_bool_R in E; rewrite Rmin_left; auto|].
  apply Qle_bool_false in E. rewrite Rmin_right; lra.
Qed.

Lemma bent_sound : forall b S hs (W : list (R * change)) (m : change -> Q * Q) D D', weights W -> bends b S (length hs) ->
  (forall g : data -> R, In g hs -> mixed W (fun p => fst (m p)) <= g D' - g D <= mixed W (fun p => snd (m p))) ->
  mixed W (fun p => fst (bent b (m p))) <= S (map (fun h => h D') hs) - S (map (fun h => h D) hs) <= mixed W (fun p => snd (bent b (m p))).
Proof.
  intros b S hs W m D D' HW Hb H. destruct b; simpl in Hb; destruct Hb as [Hn Hb].
  - destruct hs as [|h [|? ?]]; try discriminate. simpl. specialize (H h (or_introl eq_refl)). specialize (Hb (h D) (h D')).
    assert (A : mixed W (fun p => fst (m p)) = - mixed W (fun p => (- fst (m p))%Q)).
    { rewrite (mixed_scale W (-1) (fun p => fst (m p)) (fun p => (- fst (m p))%Q)); [ring|]. intros. rewrite Q2R_opp. ring. }
    assert (B : mixed W (fun p => (- fst (m p))%Q) <= mixed W (fun p => qmax (- fst (m p)) (snd (m p)))).
    { apply mixed_le; auto. intros. rewrite Q2R_qmax. apply Rmax_l. }
    assert (C : mixed W (fun p => snd (m p)) <= mixed W (fun p => qmax (- fst (m p)) (snd (m p)))).
    { apply mixed_le; auto. intros. rewrite Q2R_qmax. apply Rmax_r. }
    rewrite (mixed_scale W (-1) (fun p => qmax (- fst (m p)) (snd (m p))) (fun p => (- qmax (- fst (m p)) (snd (m p)))%Q)) by (intros; rewrite Q2R_opp; ring).
    assert (Rabs (h D' - h D) <= mixed W (fun p => qmax (- fst (m p)) (snd (m p)))) by (apply Rabs_le; lra).
    pose proof (Rle_abs (S [h D'] - S [h D])). pose proof (Rle_abs (- (S [h D'] - S [h D]))) as N. rewrite Rabs_Ropp in N. lra.
  - destruct hs as [|h [|? ?]]; try discriminate. simpl. specialize (H h (or_introl eq_refl)).
    assert (A : mixed W (fun p => qmin (fst (m p)) 0) <= mixed W (fun p => fst (m p))).
    { apply mixed_le; auto. intros. rewrite Q2R_qmin. apply Rmin_l. }
    assert (A0 : mixed W (fun p => qmin (fst (m p)) 0) <= 0).
    { apply Rle_trans with (mixed W (fun _ => 0%Q)); [apply mixed_le; auto; intros; rewrite Q2R_qmin; apply Rmin_r|].
      rewrite (mixed_scale W 0 (fun _ => 0%Q) (fun _ => 0%Q)) by (intros; rewrite RMicromega.Q2R_0; ring). lra. }
    assert (B : mixed W (fun p => snd (m p)) <= mixed W (fun p => qmax (snd (m p)) 0)).
    { apply mixed_le; auto. intros. rewrite Q2R_qmax. apply Rmax_l. }
    assert (B0 : 0 <= mixed W (fun p => qmax (snd (m p)) 0)).
    { apply mixed_pos; auto. intros. rewrite Q2R_qmax, RMicromega.Q2R_0. apply Rmax_r. }
    destruct (Rle_dec (h D) (h D')) as [L|L].
    + specialize (Hb _ _ L). lra.
    + specialize (Hb (h D') (h D) ltac:(lra)). lra.
  - simpl. apply Hb; [rewrite map_length; auto|]. clear Hn Hb. induction hs; simpl; constructor.
    + apply H. simpl. auto.
    + apply IHhs. intros. apply H. simpl. auto.
Qed.

Lemma moved_sound : forall W D D', weights W -> changed W D D' -> forall v gs, means v gs -> forall g, In g gs ->
  mixed W (fun p => fst (moved v p)) <= g D' - g D <= mixed W (fun p => snd (moved v p)).
Proof.
  intros W D D' HW HC. induction v; cbn [moved means]; intros gs Hm g Hg.
  - destruct Hm as (k & g0 & -> & E). destruct Hg as [<-|[]]. rewrite !E. cbn [fst snd].
    rewrite (mixed_scale W 0 (fun _ => 0%Q) (fun _ => 0%Q)) by (intros; rewrite RMicromega.Q2R_0; ring). lra.
  - destruct Hm as (g0 & T & h & -> & HT & Hh & E). destruct Hg as [<-|[]]. rewrite !E.
    specialize (IHv [h] Hh h (or_introl eq_refl)). specialize (HC t T HT).
    rewrite (mixed_add W (fun p => fst (both (moved_term t p) (moved v p))) (fun p => fst (moved_term t p)) (fun p => fst (moved v p))) by (intros; unfold both; cbn [fst snd]; apply Q2R_qadd).
    rewrite (mixed_add W (fun p => snd (both (moved_term t p) (moved v p))) (fun p => snd (moved_term t p)) (fun p => snd (moved v p))) by (intros; unfold both; cbn [fst snd]; apply Q2R_qadd). lra.
  - destruct Hm as (g0 & S & hs & h & -> & Hb & Hi & Hr & E). destruct Hg as [<-|[]]. rewrite !E.
    specialize (IHv2 [h] Hr h (or_introl eq_refl)).
    pose proof (bent_sound b S hs W (moved v1) D D' HW Hb (IHv1 hs Hi)) as B.
    rewrite (mixed_add W (fun p => fst (both (times_factor factor (bent b (moved v1 p))) (moved v2 p))) (fun p => fst (times_factor factor (bent b (moved v1 p)))) (fun p => fst (moved v2 p))) by (intros; unfold both; cbn [fst snd]; apply Q2R_qadd).
    rewrite (mixed_add W (fun p => snd (both (times_factor factor (bent b (moved v1 p))) (moved v2 p))) (fun p => snd (times_factor factor (bent b (moved v1 p)))) (fun p => snd (moved v2 p))) by (intros; unfold both; cbn [fst snd]; apply Q2R_qadd).
    unfold times_factor. destruct (Qle_bool 0 factor) eqn:F.
    + apply Qle_bool_R in F. rewrite RMicromega.Q2R_0 in F. cbn [fst snd].
      rewrite (mixed_scale W (Q2R factor) (fun p => fst (bent b (moved v1 p))) (fun p => Qred (factor * fst (bent b (moved v1 p))))) by (intros; rewrite Q2R_Qred, Q2R_mult; ring).
      rewrite (mixed_scale W (Q2R factor) (fun p => snd (bent b (moved v1 p))) (fun p => Qred (factor * snd (bent b (moved v1 p))))) by (intros; rewrite Q2R_Qred, Q2R_mult; ring).
      destruct B as [B1 B2]. apply (Rmult_le_compat_l _ _ _ F) in B1, B2. lra.
    + apply Qle_bool_false in F. rewrite RMicromega.Q2R_0 in F. cbn [fst snd].
      rewrite (mixed_scale W (Q2R factor) (fun p => snd (bent b (moved v1 p))) (fun p => Qred (factor * snd (bent b (moved v1 p))))) by (intros; rewrite Q2R_Qred, Q2R_mult; ring).
      rewrite (mixed_scale W (Q2R factor) (fun p => fst (bent b (moved v1 p))) (fun p => Qred (factor * fst (bent b (moved v1 p))))) by (intros; rewrite Q2R_Qred, Q2R_mult; ring).
      destruct B as [B1 B2]. assert (F' : Q2R factor <= 0) by lra. apply (Rmult_le_compat_neg_l _ _ _ F') in B1, B2. lra.
  - destruct Hm as (g1 & h1 & -> & H1 & H2). apply in_app_iff in Hg. cbv zeta. cbn [fst snd].
    assert (A : forall m n : change -> Q * Q, mixed W (fun p => qmin (fst (m p)) (fst (n p))) <= mixed W (fun p => fst (m p)) /\
                mixed W (fun p => qmin (fst (m p)) (fst (n p))) <= mixed W (fun p => fst (n p)) /\
                mixed W (fun p => snd (m p)) <= mixed W (fun p => qmax (snd (m p)) (snd (n p))) /\
                mixed W (fun p => snd (n p)) <= mixed W (fun p => qmax (snd (m p)) (snd (n p)))).
    { intros. repeat split; apply mixed_le; auto; intros; rewrite ?Q2R_qmin, ?Q2R_qmax; auto using Rmin_l, Rmin_r, Rmax_l, Rmax_r. }
    specialize (A (moved v1) (moved v2)).
    destruct Hg as [Hg|Hg]; [specialize (IHv1 _ H1 g Hg)|specialize (IHv2 _ H2 g Hg)]; lra.
Qed.
(* ---- what one release costs ---- *)
Hypothesis HI : lawful I.

Fixpoint vsub (x y : list R) : list R := match x, y with a :: x', b :: y' => (a - b) :: vsub x' y' | _, _ => [] end.
Lemma vsub_back : forall x y h, length x = length y -> length h = length y -> vadd y (vadd h (vsub x y)) = vadd x h.
Proof.
  induction x; destruct y; destruct h; simpl; intros; try discriminate; auto. f_equal; [ring|]. apply IHx; congruence.
Qed.

Lemma exp_le : forall a b, a <= b -> exp a <= exp b.
Proof. intros a b [H|H]; [left; apply exp_increasing; auto|rewrite H; lra]. Qed.

Lemma noise_near : forall m b xs ys e f, 0 < Q2R b -> length xs = length ys -> (m = Laplace \/ m = DLaplace) ->
  (m = DLaplace -> Forall (fun d => exists z : Z, d = IZR z) (vsub xs ys)) ->
  cost (repeat (Dr m b) (length ys)) (vsub xs ys) <= e -> bounded f ->
  integ I (repeat (Dr m b) (length xs)) (fun h => f (vadd xs h)) <= exp e * integ I (repeat (Dr m b) (length ys)) (fun h => f (vadd ys h)).
Proof.
  intros m b xs ys e f Hb Hl Hm Hz He [B Hf]. rewrite Hl. set (ds := repeat (Dr m b) (length ys)).
  assert (Hd : Forall (lawful1 I) ds) by (apply Forall_forall; intros d Hd; apply repeat_spec in Hd; subst; apply HI; auto).
  assert (Ha : Forall2 allowed ds (vsub xs ys)).
  { unfold ds. clear -Hl Hm Hz. revert ys Hl Hz. induction xs; destruct ys; simpl; intros; try discriminate; constructor.
    - unfold allowed. simpl. destruct Hm as [-> | ->]; auto. specialize (Hz eq_refl). inversion Hz; auto.
    - apply IHxs; [congruence|]. intros E. specialize (Hz E). inversion Hz; auto. }
  pose proof (integ_shift I ds (vsub xs ys) _ (fun h => f (vadd ys h)) B (lawful_shiftable I _ _ Hd Ha) ltac:(intros; apply Hf)) as S.
  apply Rle_trans with (integ I ds (fun r => f (vadd ys (vadd r (vsub xs ys))))).
  - apply (integ_mono I _ _ _ B B); try (intros; apply Hf). intros h Hh. rewrite vsub_back; auto; [lra|].
    apply Forall2_length in Hh. rewrite <- Hh. unfold ds. apply repeat_length.
  - eapply Rle_trans; [apply S|]. apply Rmult_le_compat_r.
    + apply (integ_range I ds (fun h => f (vadd ys h)) B). intros; apply Hf.
    + apply exp_le. exact He.
Qed.

Lemma chances_near : forall r lo hi f xs ys n, 0 < Q2R (rscale r) -> (forall o, 0 <= f o) ->
  Forall2 (fun x y => lo <= y - x <= hi) xs ys ->
  let ch := fun xs => map (fun ix => (INR (fst ix), exp (snd ix / Q2R (rscale r)))) (combine (seq n (length xs)) xs) in
  lsum (fun oe => snd oe * f [fst oe]) (ch xs) <= exp (- lo / Q2R (rscale r)) * lsum (fun oe => snd oe * f [fst oe]) (ch ys) /\
  exp (- hi / Q2R (rscale r)) * lsum snd (ch ys) <= lsum snd (ch xs).
Proof.
  intros r lo hi f xs ys n Hb Hf H. revert n. induction H as [|x y xs ys Hxy H IH]; intros n; simpl; [lra|].
  specialize (IH (S n)). simpl in IH. destruct IH as [IH1 IH2]. rewrite !Rmult_plus_distr_l. split; apply Rplus_le_compat; auto.
  - rewrite <- Rmult_assoc, <- exp_plus. apply Rmult_le_compat_r; auto. apply exp_le. unfold Rdiv. rewrite <- Rmult_plus_distr_r.
    apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; auto|lra].
  - rewrite <- exp_plus. apply exp_le. unfold Rdiv. rewrite <- Rmult_plus_distr_r.
    apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; auto|lra].
Qed.
Lemma chances_pos : forall r xs n, xs <> [] ->
  0 < lsum snd (map (fun ix => (INR (fst ix), exp (snd ix / Q2R (rscale r)))) (combine (seq n (length xs)) xs)).
Proof.
  intros r xs n H. destruct xs as [|x xs]; [contradiction|]. simpl.
  assert (0 <= lsum snd (map (fun ix => (INR (fst ix), exp (snd ix / Q2R (rscale r)))) (combine (seq (S n) (length xs)) xs))).
  { apply lsum_pos. intros a Ha. apply in_map_iff in Ha. destruct Ha as (? & <- & _). left. apply exp_pos. }
  pose proof (exp_pos (x / Q2R (rscale r))). lra.
Qed.
Lemma choice_near : forall r lo hi f xs ys, 0 < Q2R (rscale r) -> (forall o, 0 <= f o) -> xs <> [] ->
  Forall2 (fun x y => lo <= y - x <= hi) xs ys ->
  lsum (fun oe => snd oe * f [fst oe]) (chances r xs) / lsum snd (chances r xs) <=
  exp ((hi - lo) / Q2R (rscale r)) * (lsum (fun oe => snd oe * f [fst oe]) (chances r ys) / lsum snd (chances r ys)).
Proof.
  intros r lo hi f xs ys Hb Hf Hn H. unfold chances. destruct (chances_near r lo hi f xs ys 0 Hb Hf H) as [A B]. cbv zeta in A, B.
  assert (ys <> []) by (destruct H; [contradiction|discriminate]).
  pose proof (chances_pos r xs 0 Hn) as Px. pose proof (chances_pos r ys 0 H0) as Py.
  set (cx := map _ (combine (seq 0 (length xs)) xs)) in *. set (cy := map _ (combine (seq 0 (length ys)) ys)) in *.
  set (Sx := lsum (fun oe => snd oe * f [fst oe]) cx) in *. set (Tx := lsum snd cx) in *.
  set (Sy := lsum (fun oe => snd oe * f [fst oe]) cy) in *. set (Ty := lsum snd cy) in *.
  apply Rmult_le_reg_r with (Tx * Ty); [apply Rmult_lt_0_compat; auto|].
  replace (Sx / Tx * (Tx * Ty)) with (Sx * Ty) by (field; lra).
  assert (X : forall e, e * (Sy / Ty) * (Tx * Ty) = e * Sy * Tx) by (intros; field; apply Rgt_not_eq; auto). rewrite X.
  apply Rle_trans with (exp (- lo / Q2R (rscale r)) * Sy * Ty).
  - apply Rmult_le_compat_r; lra.
  - replace (exp (- lo / Q2R (rscale r))) with (exp ((hi - lo) / Q2R (rscale r)) * exp (- hi / Q2R (rscale r))) by (rewrite <- exp_plus; f_equal; unfold Rdiv; ring).
    replace (exp ((hi - lo) / Q2R (rscale r)) * exp (- hi / Q2R (rscale r)) * Sy * Ty)
      with (exp ((hi - lo) / Q2R (rscale r)) * Sy * (exp (- hi / Q2R (rscale r)) * Ty)) by ring.
    apply Rmult_le_compat_l; auto. apply Rmult_le_pos; [left; apply exp_pos|].
    apply lsum_pos. intros a Ha. apply in_map_iff in Ha. destruct Ha as (? & <- & _). apply Rmult_le_pos; auto. left. apply exp_pos.
Qed.

Definition hull_at (vs : list value) (p : change) : Q * Q := match hull_of p vs with None => (0%Q, 0%Q) | Some m => m end.
Lemma hull_holds : forall vs v p, In v vs ->
  Q2R (fst (hull_at vs p)) <= Q2R (fst (moved v p)) /\ Q2R (snd (moved v p)) <= Q2R (snd (hull_at vs p)).
Proof.
  unfold hull_at. induction vs as [|w vs IH]; intros v p H; [contradiction|]. simpl. destruct (hull_of p vs) as [m|] eqn:E.
  - cbn [fst snd]. rewrite Q2R_qmin, Q2R_qmax. destruct H as [<-|H].
    + split; [apply Rmin_l|apply Rmax_l].
    + specialize (IH v p H). rewrite E in IH. split; [eapply Rle_trans; [apply Rmin_r|]|eapply Rle_trans; [|apply Rmax_r]]; apply IH.
  - destruct H as [<-|H]; [lra|]. destruct vs; [contradiction|simpl in E; discriminate].
Qed.

Lemma farthest_holds : forall W v x, weights W ->
  mixed W (fun p => fst (moved v p)) <= x <= mixed W (fun p => snd (moved v p)) -> Rabs x <= mixed W (fun p => farthest p v).
Proof.
  intros W v x HW H. unfold farthest. cbv zeta. apply Rabs_le. split.
  - assert (mixed W (fun p => (- fst (moved v p))%Q) <= mixed W (fun p => qmax (- fst (moved v p)) (snd (moved v p)))).
    { apply mixed_le; auto. intros. rewrite Q2R_qmax. apply Rmax_l. }
    rewrite (mixed_scale W (-1) (fun p => fst (moved v p)) (fun p => (- fst (moved v p))%Q)) in H0 by (intros; rewrite Q2R_opp; ring). lra.
  - eapply Rle_trans; [apply H|]. apply mixed_le; auto. intros. rewrite Q2R_qmax. apply Rmax_r.
Qed.
Lemma cost_holds : forall W m b (A B : data) vs gs, 0 < Q2R b ->
  Forall2 (fun v (g : data -> R) => Rabs (g A - g B) <= mixed W (fun p => farthest p v)) vs gs ->
  cost (repeat (Dr m b) (length gs)) (vsub (map (fun g => g A) gs) (map (fun g => g B) gs)) <=
  mixed W (fun p => fold_right (fun v s => qadd (farthest p v / b) s) 0%Q vs).
Proof.
  intros W m b A B vs gs Hb H. induction H; simpl.
  - right. symmetry. rewrite (mixed_scale W 0 (fun _ => 0%Q) (fun _ => 0%Q)) by (intros; rewrite RMicromega.Q2R_0; ring). ring.
  - rewrite (mixed_add W (fun p => qadd (farthest p x / b) (fold_right (fun v s => qadd (farthest p v / b) s) 0%Q l))
               (fun p => (farthest p x / b)%Q) (fun p => fold_right (fun v s => qadd (farthest p v / b) s) 0%Q l)) by (intros; apply Q2R_qadd).
    apply Rplus_le_compat; auto.
    assert (Nb : ~ (b == 0)%Q) by (intro Z; apply Qeq_eqR in Z; rewrite RMicromega.Q2R_0 in Z; lra).
    rewrite (mixed_scale W (/ Q2R b) (fun p => farthest p x) (fun p => (farthest p x / b)%Q)) by (intros; rewrite Q2R_div by auto; unfold Rdiv; ring).
    unfold cost1. simpl. unfold Rdiv. rewrite Rmult_comm. apply Rmult_le_compat_l; auto. left. apply Rinv_0_lt_compat. auto.
Qed.

Lemma reported_pos : forall p bs f, 0 <= p <= 1 -> (forall o, 0 <= f o) -> 0 <= reported p bs f.
Proof.
  induction bs; intros f Hp Hf; simpl; auto.
  apply Rplus_le_le_0_compat; apply Rmult_le_pos; try lra; apply IHbs; auto.
Qed.
Fixpoint differ (a b : list bool) : R :=
  match a, b with x :: a', y :: b' => (if Bool.eqb x y then 0 else 1) + differ a' b' | _, _ => 0 end.
Lemma differ_same : forall a, differ a a = 0.
Proof. induction a; simpl; [auto|]. rewrite Bool.eqb_reflx, IHa. ring. Qed.
Lemma differ_app : forall a b a' b', length a = length a' -> differ (a ++ b) (a' ++ b') = differ a a' + differ b b'.
Proof. induction a; destruct a'; simpl; intros b' H; try discriminate; [ring|]. rewrite IHa by congruence. ring. Qed.
Lemma reported_near : forall p l, 0 < p < 1 -> (1 - p) / p <= exp l -> p / (1 - p) <= exp l ->
  forall bs bs' f, length bs = length bs' -> (forall o, 0 <= f o) ->
  reported p bs f <= exp (l * differ bs bs') * reported p bs' f.
Proof.
  intros p l Hp O1 O2.
  assert (P1 : 1 - p <= exp l * p).
  { apply (Rmult_le_compat_r p) in O1; [|lra]. unfold Rdiv in O1. rewrite Rmult_assoc, Rinv_l in O1 by lra. lra. }
  assert (P2 : p <= exp l * (1 - p)).
  { apply (Rmult_le_compat_r (1 - p)) in O2; [|lra]. unfold Rdiv in O2. rewrite Rmult_assoc, Rinv_l in O2 by lra. lra. }
  induction bs as [|b bs IH]; destruct bs' as [|b' bs']; intros f Hl Hf; try discriminate.
  - simpl. rewrite Rmult_0_r, exp_0. lra.
  - simpl. set (e := exp (l * differ bs bs')). assert (He : 0 < e) by apply exp_pos.
    assert (A : forall x : R, reported p bs (fun o => f (x :: o)) <= e * reported p bs' (fun o => f (x :: o))).
    { intros x. apply IH; auto. }
    assert (B : forall x : R, 0 <= reported p bs' (fun o => f (x :: o))) by (intros; apply reported_pos; [lra|auto]).
    rewrite (Rmult_plus_distr_l l), exp_plus. fold e.
    pose proof (A 0) as A0. pose proof (A 1) as A1. pose proof (B 0) as B0. pose proof (B 1) as B1.
    assert (S : forall k m x y, 0 <= k -> k <= m -> x <= e * y -> 0 <= y -> k * x <= m * (e * y)).
    { intros k m x y Hk Hm Hx Hy. assert (0 <= e * y) by (apply Rmult_le_pos; lra).
      apply Rle_trans with (k * (e * y)); [apply Rmult_le_compat_l; auto|apply Rmult_le_compat_r; auto]. }
    destruct b, b'; simpl;
    set (x0 := reported p bs (fun o => f (0 :: o))) in *; set (x1 := reported p bs (fun o => f (1 :: o))) in *;
    set (y0 := reported p bs' (fun o => f (0 :: o))) in *; set (y1 := reported p bs' (fun o => f (1 :: o))) in *.
    + replace (l * 0) with 0 by ring. rewrite exp_0. pose proof (S (1 - p) (1 - p) x1 y1 ltac:(lra) ltac:(lra) A1 B1). pose proof (S p p x0 y0 ltac:(lra) ltac:(lra) A0 B0). lra.
    + replace (l * 1) with l by ring. pose proof (S (1 - p) (exp l * p) x1 y1 ltac:(lra) P1 A1 B1). pose proof (S p (exp l * (1 - p)) x0 y0 ltac:(lra) P2 A0 B0). lra.
    + replace (l * 1) with l by ring. pose proof (S (1 - p) (exp l * p) x0 y0 ltac:(lra) P1 A0 B0). pose proof (S p (exp l * (1 - p)) x1 y1 ltac:(lra) P2 A1 B1). lra.
    + replace (l * 0) with 0 by ring. rewrite exp_0. pose proof (S (1 - p) (1 - p) x0 y0 ltac:(lra) ltac:(lra) A0 B0). pose proof (S p p x1 y1 ltac:(lra) ltac:(lra) A1 B1). lra.
Qed.
(* Bits of two data that differ in one unit: each value moves by 1 where its bit differs. *)
Lemma bits_differ : forall W (vs : list value) gs bits A u v B, weights W ->
  Forall2 (fun v' (g : data -> R) => mixed W (fun p => fst (moved v' p)) <= g (A ++ u :: B) - g (A ++ v :: B) <= mixed W (fun p => snd (moved v' p))) vs gs ->
  Forall2 (fun (b : unit_of_privacy -> bool) (g : data -> R) => forall D, g D = lsum (fun u => if b u then 1 else 0) D) bits gs -> forall l, 0 <= Q2R l ->
  let at_ := fun x => flat_map (fun b => map b (A ++ x :: B)) bits in
  length (at_ v) = length (at_ u) /\ differ (at_ u) (at_ v) = differ (at_ v) (at_ u) /\
  Q2R l * differ (at_ v) (at_ u) <= mixed W (fun p => fold_right (fun v' s => qadd (farthest p v' * l) s) 0%Q vs).
Proof.
  intros W vs gs bits A u v B HW HM HB l Hl. cbv zeta. revert vs HM. induction HB as [|b g bits gs Hb HB IH]; intros vs HM; inversion HM; subst; cbn [flat_map fold_right].
  - repeat split; auto. right. rewrite (mixed_scale W 0 (fun _ => 0%Q) (fun _ => 0%Q)) by (intros; rewrite RMicromega.Q2R_0; ring). simpl. ring.
  - destruct (IH _ H3) as (L & E & C). rewrite !app_length, !differ_app by (rewrite !map_length, !app_length; auto). rewrite L, E.
    assert (X : forall x y, differ (map b (A ++ x :: B)) (map b (A ++ y :: B)) = if Bool.eqb (b x) (b y) then 0 else 1).
    { intros ? ?. rewrite !map_app, differ_app by auto. simpl. rewrite !differ_same. ring. }
    rewrite !X. split; [rewrite !map_length, !app_length; simpl; auto|]. split; [destruct (b u), (b v); auto|].
    rewrite Rmult_plus_distr_l.
    rewrite (mixed_add W (fun p => qadd (farthest p x * l) (fold_right (fun v' s => qadd (farthest p v' * l) s) 0%Q l0))
               (fun p => (farthest p x * l)%Q) (fun p => fold_right (fun v' s => qadd (farthest p v' * l) s) 0%Q l0)) by (intros; apply Q2R_qadd).
    apply Rplus_le_compat; auto. rewrite (mixed_scale W (Q2R l) (fun p => farthest p x) (fun p => (farthest p x * l)%Q)) by (intros; rewrite Q2R_mult; ring).
    apply Rmult_le_compat_l; auto. match goal with Hm : _ <= _ - _ <= _ |- _ => eapply Rle_trans; [|apply (farthest_holds W x _ HW Hm)] end. rewrite !Hb, !lsum_app. cbn [lsum].
    match goal with |- _ <= Rabs ?z => replace z with ((if b u then 1 else 0) - (if b v then 1 else 0)) by ring end.
    destruct (b u), (b v); simpl; unfold Rabs; destruct (Rcase_abs _); lra.
Qed.

(* What the data must be for reports: the same but for one unit. *)
Definition fits (r : release) (D D' : data) : Prop :=
  match rlaw r with Reports _ _ => exists A u v B, D = A ++ v :: B /\ D' = A ++ u :: B | _ => True end.
Lemma loss_holds : forall r K W D D' f, release_ok c r = true -> fits r D D' ->
  weights W -> changed W D D' -> is_release r K -> bounded f ->
  M (K D) f <= exp (mixed W (loss r)) * M (K D') f /\ M (K D') f <= exp (mixed W (loss r)) * M (K D) f.
Proof.
  intros r K W D D' f Hr Hfit HW HC (gs & HF & HK) Hf. unfold release_ok in Hr. rewrite !andb_true_iff in Hr. destruct Hr as [[Hb0 Hlaw] _].
  assert (Hb : 0 < Q2R (rscale r)) by (apply pos_R; auto). unfold fits in Hfit.
  assert (HM : Forall2 (fun v (g : data -> R) => mixed W (fun p => fst (moved v p)) <= g D' - g D <= mixed W (fun p => snd (moved v p))) (rvalues r) gs).
  { clear -HF HW HC. induction HF; constructor; auto. apply (moved_sound W D D' HW HC x [y] H y). simpl. auto. }
  unfold loss. destruct (rlaw r) as [m| |flips l] eqn:E.
  - destruct HK as [Hz HK]. rewrite !HK by auto.
    assert (Hm : m = Laplace \/ m = DLaplace) by (destruct m; auto; discriminate).
    assert (Z : forall A B : data, m = DLaplace -> Forall (fun d => exists z : Z, d = IZR z) (vsub (map (fun g => g A) gs) (map (fun g => g B) gs))).
    { intros A B Ed. specialize (Hz Ed). clear -Hz. induction gs; simpl; constructor.
      - destruct (Hz A a (or_introl eq_refl)) as [z1 ->]. destruct (Hz B a (or_introl eq_refl)) as [z2 ->]. exists (z1 - z2)%Z. rewrite minus_IZR. auto.
      - apply IHgs. intros; apply Hz; simpl; auto. }
    assert (N : forall A B : data, Forall2 (fun v (g : data -> R) => Rabs (g A - g B) <= mixed W (fun p => farthest p v)) (rvalues r) gs ->
      integ I (repeat (Dr m (rscale r)) (length gs)) (fun h => f (vadd (map (fun g => g A) gs) h)) <=
      exp (mixed W (fun p => fold_right (fun v s => qadd (farthest p v / rscale r) s) 0%Q (rvalues r))) *
      integ I (repeat (Dr m (rscale r)) (length gs)) (fun h => f (vadd (map (fun g => g B) gs) h))).
    { intros A B H. pose proof (noise_near m (rscale r) (map (fun g => g A) gs) (map (fun g => g B) gs)
        (mixed W (fun p => fold_right (fun v s => qadd (farthest p v / rscale r) s) 0%Q (rvalues r))) f Hb) as Q.
      rewrite !map_length in Q. apply Q; auto. apply cost_holds; auto. }
    split; apply N; clear -HM HW; induction HM; constructor; auto; [rewrite Rabs_minus_sym|]; apply farthest_holds; auto.
  - destruct HK as [Hn HK]. rewrite !HK by auto.
    assert (Hne : forall A : data, map (fun g => g A) gs <> []) by (intros A; destruct gs; [contradiction|discriminate]).
    assert (Hf0 : forall o, 0 <= f o) by (destruct Hf as [B Hf]; intros; apply Hf).
    set (lo := mixed W (fun p => fst (hull_at (rvalues r) p))). set (hi := mixed W (fun p => snd (hull_at (rvalues r) p))).
    assert (L : forall v (g : data -> R), In v (rvalues r) -> mixed W (fun p => fst (moved v p)) <= g D' - g D <= mixed W (fun p => snd (moved v p)) ->
                  lo <= g D' - g D <= hi).
    { intros v g Hv Hg. split; [eapply Rle_trans; [|apply Hg]|eapply Rle_trans; [apply Hg|]]; apply mixed_le; auto; intros; apply hull_holds; auto. }
    assert (F : Forall (fun g : data -> R => lo <= g D' - g D <= hi) gs).
    { clearbody lo hi. clear -HM L. induction HM; constructor; [apply (L x); simpl; auto|]. apply IHHM. intros; apply (L v); simpl; auto. }
    assert (Nb : ~ (rscale r == 0)%Q) by (intro Z; apply Qeq_eqR in Z; rewrite RMicromega.Q2R_0 in Z; lra).
    assert (C : mixed W (fun p => match hull_of p (rvalues r) with None => 0%Q | Some m => Qred ((snd m - fst m) / rscale r) end) = (hi - lo) / Q2R (rscale r)).
    { unfold hi, lo, mixed. clear -Nb. induction W as [|wp W IH]; cbn [lsum]; [unfold Rdiv; ring|]. rewrite IH. unfold hull_at.
      destruct (hull_of (snd wp) (rvalues r)); cbn [fst snd].
      - rewrite Q2R_Qred, Q2R_div, Q2R_minus by auto. unfold Rdiv. ring.
      - rewrite RMicromega.Q2R_0. unfold Rdiv. ring. }
    rewrite C. split.
    + apply choice_near; auto. clear -F. induction F; simpl; constructor; auto.
    + replace (hi - lo) with (- lo - - hi) by ring. apply choice_near; auto. clear -F. induction F; simpl; constructor; auto. lra.
  - destruct HK as (bits & HB & HK). rewrite !HK by auto. destruct Hfit as (A & u & v & B & -> & ->).
    apply andb_true_iff in Hlaw. destruct Hlaw as [_ Ho]. unfold odds_ok in Ho. cbv zeta in Ho. rewrite !andb_true_iff in Ho.
    destruct Ho as [[P1 P2] [O1 O2]]. pose proof (pos_R _ P1) as Q1. pose proof (pos_R _ P2) as Q2. rewrite Q2R_minus, Q2R_1 in Q2.
    assert (N1 : ~ (flips == 0)%Q) by (intro Z; apply Qeq_eqR in Z; rewrite RMicromega.Q2R_0 in Z; lra).
    assert (N2 : ~ (1 - flips == 0)%Q) by (intro Z; apply Qeq_eqR in Z; rewrite Q2R_minus, Q2R_1, RMicromega.Q2R_0 in Z; lra).
    apply Qle_bool_R in O1, O2. rewrite Q2R_div, Q2R_minus, Q2R_1 in O1, O2 by auto. pose proof (below_exp_ok l) as Be.
    assert (Hl : 0 <= Q2R l).
    { apply Rnot_lt_le. intros N. assert (exp (Q2R l) < 1) by (rewrite <- exp_0; apply exp_increasing; auto).
      destruct (Rle_dec (1 / 2) (Q2R flips)) as [G|G].
      - assert (1 <= Q2R flips / (1 - Q2R flips)); [|lra]. apply Rmult_le_reg_r with (1 - Q2R flips); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra.
      - assert (1 <= (1 - Q2R flips) / Q2R flips); [|lra]. apply Rmult_le_reg_r with (Q2R flips); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
    assert (Hf0 : forall o, 0 <= f o) by (destruct Hf as [U Hf]; intros; apply Hf).
    destruct (bits_differ W _ gs bits A u v B HW HM HB l Hl) as (L & S & C).
    assert (N : forall bs bs', length bs = length bs' -> Q2R l * differ bs bs' <= mixed W (fun p => fold_right (fun v' s => qadd (farthest p v' * l) s) 0%Q (rvalues r)) ->
      reported (Q2R flips) bs f <= exp (mixed W (fun p => fold_right (fun v' s => qadd (farthest p v' * l) s) 0%Q (rvalues r))) * reported (Q2R flips) bs' f).
    { intros bs bs' Hlen Hc. eapply Rle_trans; [apply (reported_near (Q2R flips) (Q2R l)); try lra; eauto|].
      apply Rmult_le_compat_r; [apply reported_pos; [lra|auto]|apply exp_le; auto]. }
    split; apply N; auto. rewrite S. auto.
Qed.
Lemma price_pos : forall r p, 0 <= Q2R (price r p).
Proof. intros. unfold price. rewrite Q2R_qmax, RMicromega.Q2R_0. apply Rmax_l. Qed.
Lemma price_holds : forall r K W D D' f, release_ok c r = true -> fits r D D' -> weights W -> changed W D D' -> is_release r K -> bounded f ->
  M (K D) f <= exp (mixed W (price r)) * M (K D') f /\ M (K D') f <= exp (mixed W (price r)) * M (K D) f.
Proof.
  intros r K W D D' f Hr Hfit HW HC HK Hf. destruct (loss_holds r K W D D' f Hr Hfit HW HC HK Hf) as [A B].
  assert (E : exp (mixed W (loss r)) <= exp (mixed W (price r))).
  { apply exp_le, mixed_le; auto. intros. unfold price. rewrite Q2R_qmax. apply Rmax_r. }
  assert (P : forall D, 0 <= M (K D) f) by (intros E0; destruct Hf as [U Hf]; apply (M_range (K E0) f U); auto).
  split; (eapply Rle_trans; [eassumption|apply Rmult_le_compat_r; auto]).
Qed.

(* ---- samples: a coin for every draw of every unit ---- *)
(* All data, or draw number j of sample number s. *)
Definition place : Type := option (nat * nat).
Definition place_eq (a b : place) : {a = b} + {a <> b}.
Proof. decide equality. decide equality; apply Nat.eq_dec. Defined.
Definition drawn_of (s : nat) : nat := Pos.to_nat (drawn (sample_at c s)).
Definition tosses : list (place * R) :=
  flat_map (fun s => map (fun j => (Some (s, j), Q2R (rate_of (sample_at c s)))) (seq 0 (drawn_of s))) (seq 0 (length (samples c))).
(* In which places a unit is, and with which probability. *)
Fixpoint coins (qs : list (place * R)) : list (R * (place -> bool)) :=
  match qs with
  | [] => [(1, fun _ => true)]
  | (a, q) :: r => flat_map (fun wc => [(fst wc * q, snd wc);
      (fst wc * (1 - q), fun b => if place_eq b a then false else snd wc b)]) (coins r)
  end.
Fixpoint over (D : data) (k : (place -> data) -> R) : R :=
  match D with
  | [] => k (fun _ => [])
  | u :: r => lsum (fun wc : R * (place -> bool) => fst wc * over r (fun S : place -> data => k (fun a => if snd wc a then u :: S a else S a))) (coins tosses)
  end.
Definition mechanism (p : program data place) (D : data) (f : list (list R) -> R) : R := over D (fun S => go_on p S f).

(* ---- which programs a certificate describes ---- *)
(* Release i where it stands on a path. *)
Definition made_of (i : nat) : list (nat * place) :=
  let r := release_at c i in
  match rsample r with
  | None => repeat (i, None) (Pos.to_nat (rtimes r))
  | Some s => flat_map (fun j => repeat (i, Some (s, j)) (Pos.to_nat (rtimes r) / drawn_of s)) (seq 0 (drawn_of s))
  end.
Definition described (p : program data place) : Prop :=
  every (fun i _ K => (i < length (releases c))%nat /\ is_release (release_at c i) K) p /\
  forall l, path p l -> exists P rest, In P (paths c) /\ Permutation (l ++ rest) (flat_map made_of P).

(* ---- neighbours ---- *)
Definition neighbours (D D' : data) : Prop := exists A u B, is_unit u /\
  if replaced c then exists u', is_unit u' /\ D = A ++ u :: B /\ D' = A ++ u' :: B
  else D = A ++ B /\ D' = A ++ u :: B \/ D = A ++ u :: B /\ D' = A ++ B.
Fixpoint steps_apart (n : nat) (D D' : data) : Prop :=
  match n with O => D = D' | S n' => exists E, (D = E \/ neighbours D E) /\ steps_apart n' E D' end.

(* ---- sums over coins ---- *)
Hypothesis Hsamples : forallb sample_ok (samples c) = true.
Lemma rate_01 : forall s, 0 <= Q2R (rate_of (sample_at c s)) <= 1.
Proof.
  intros s. unfold sample_at. destruct (nth_in_or_default s (samples c) (NewSample 1 1)) as [H|H].
  - rewrite forallb_forall in Hsamples. specialize (Hsamples _ H). unfold sample_ok in Hsamples. apply andb_true_iff in Hsamples.
    destruct Hsamples as [A B]. unfold pos in A. apply negb_true_iff, Qle_bool_false in A. apply Qle_bool_R in B.
    rewrite RMicromega.Q2R_0 in A. rewrite Q2R_1 in B. lra.
  - rewrite H. simpl. rewrite Q2R_1. lra.
Qed.
Lemma tosses_01 : Forall (fun aq => 0 <= snd aq <= 1) tosses.
Proof.
  apply Forall_forall. intros aq H. unfold tosses in H. apply in_flat_map in H. destruct H as (s & _ & H).
  apply in_map_iff in H. destruct H as (j & <- & _). apply rate_01.
Qed.
Lemma coins_pos : forall qs, Forall (fun aq => 0 <= snd aq <= 1) qs -> forall wc, In wc (coins qs) -> 0 <= fst wc.
Proof.
  induction 1 as [|[a q] r Hq _ IH]; simpl; intros wc H.
  - destruct H as [<-|[]]. simpl. lra.
  - apply in_flat_map in H. destruct H as (wc' & Hi & H). specialize (IH _ Hi). simpl in Hq.
    destruct H as [<-|[<-|[]]]; simpl; apply Rmult_le_pos; lra.
Qed.
Lemma lsum_flat : forall A B (g : B -> R) (h : A -> list B) l, lsum g (flat_map h l) = lsum (fun a => lsum g (h a)) l.
Proof. induction l; simpl; auto. rewrite lsum_app, IHl. auto. Qed.
Lemma coins_one : forall qs, lsum fst (coins qs) = 1.
Proof.
  induction qs as [|[a q] r IH]; simpl; [lra|]. rewrite lsum_flat. transitivity (lsum fst (coins r)); auto. apply lsum_ext. intros wc _. simpl. ring.
Qed.
Lemma lsum_plus : forall A (g h : A -> R) l, lsum (fun a => g a + h a) l = lsum g l + lsum h l.
Proof. induction l; simpl; [lra|]. rewrite IHl. ring. Qed.
Lemma lsum_swap : forall A B (g : A -> B -> R) l m, lsum (fun a => lsum (g a) m) l = lsum (fun b => lsum (fun a => g a b) l) m.
Proof.
  induction l; intros m; simpl.
  - induction m; simpl; lra.
  - rewrite IHl, lsum_plus. auto.
Qed.

Lemma over_mono : forall D k k', (forall S, k S <= k' S) -> over D k <= over D k'.
Proof.
  induction D; simpl; intros k k' H; auto. apply lsum_le. intros wc Hi. apply Rmult_le_compat_l; [apply (coins_pos _ tosses_01 _ Hi)|].
  apply IHD. auto.
Qed.
Lemma over_ext : forall D k k', (forall S, k S = k' S) -> over D k = over D k'.
Proof. intros. apply Rle_antisym; apply over_mono; intros; rewrite H; lra. Qed.
Lemma over_sum : forall X (w : X -> R) D (k : X -> (place -> data) -> R) xs,
  over D (fun S => lsum (fun x => w x * k x S) xs) = lsum (fun x => w x * over D (k x)) xs.
Proof.
  intros X w D. induction D as [|u D IH]; simpl; intros k xs; auto.
  transitivity (lsum (fun wc : R * (place -> bool) => lsum (fun x => fst wc * (w x * over D (fun S : place -> data => k x (fun a => if snd wc a then u :: S a else S a)))) xs) (coins tosses)).
  - apply lsum_ext. intros wc _. rewrite (IH (fun x (S : place -> data) => k x (fun a : place => if snd wc a then u :: S a else S a))). rewrite lsum_scale. auto.
  - rewrite lsum_swap. apply lsum_ext. intros x _. rewrite lsum_scale. apply lsum_ext. intros. ring.
Qed.
Lemma over_scale : forall D r k, over D (fun S => r * k S) = r * over D k.
Proof.
  intros. pose proof (over_sum unit (fun _ => r) D (fun _ => k) [tt]) as H. simpl in H. rewrite Rplus_0_r in H. rewrite <- H.
  apply over_ext. intros. ring.
Qed.
Lemma over_app : forall A B k, over (A ++ B) k = over A (fun S => over B (fun T => k (fun a => S a ++ T a))).
Proof.
  induction A as [|u A IH]; intros B k; simpl; auto. apply lsum_ext. intros wc _. rewrite IH. f_equal. apply over_ext. intros S.
  apply over_ext. intros T. f_equal. extensionality a. destruct (snd wc a); auto.
Qed.
Definition with_unit (wc : R * (place -> bool)) (u : unit_of_privacy) (S T : place -> data) : place -> data :=
  fun a => if snd wc a then S a ++ u :: T a else S a ++ T a.
Lemma over_with : forall A u B k, over (A ++ u :: B) k =
  over A (fun S => over B (fun T => lsum (fun wc => fst wc * k (with_unit wc u S T)) (coins tosses))).
Proof.
  intros. rewrite over_app. apply over_ext. intros S. simpl. rewrite (over_sum _ fst B (fun wc T => k (with_unit wc u S T))).
  apply lsum_ext. intros wc _. f_equal. apply over_ext. intros T. f_equal. extensionality a. unfold with_unit. destruct (snd wc a); auto.
Qed.
(* ---- what coins cost ---- *)
Lemma coins_elsewhere : forall qs wc b, In wc (coins qs) -> ~ In b (map fst qs) -> snd wc b = true.
Proof.
  induction qs as [|[a q] r IH]; simpl; intros wc b H N.
  - destruct H as [<-|[]]. auto.
  - apply in_flat_map in H. destruct H as (wc' & Hi & H). assert (snd wc' b = true) by (apply IH; tauto).
    destruct H as [<-|[<-|[]]]; simpl; auto. destruct (place_eq b a); auto; subst; tauto.
Qed.
Definition tossed (cf : place -> bool) (h : place -> R) (qs : list (place * R)) : R := lsum (fun aq => if cf (fst aq) then h (fst aq) else 0) qs.
Lemma coins_cost : forall h g qs, Forall (fun aq => 0 <= snd aq <= 1) qs -> NoDup (map fst qs) ->
  (forall aq, In aq qs -> 1 + snd aq * (exp (h (fst aq)) - 1) <= exp (g (fst aq))) ->
  lsum (fun wc : R * (place -> bool) => fst wc * exp (tossed (snd wc) h qs)) (coins qs) <= exp (lsum (fun aq => g (fst aq)) qs).
Proof.
  intros h g qs Hq. induction Hq as [|[a q] r Hq Hr IH]; intros Hn H; unfold tossed in *; simpl.
  - rewrite exp_0. lra.
  - inversion Hn; subst. rewrite lsum_flat. rewrite exp_plus.
    apply Rle_trans with (lsum (fun wc : R * (place -> bool) => exp (g a) * (fst wc * exp (lsum (fun aq => if snd wc (fst aq) then h (fst aq) else 0) r))) (coins r)).
    + apply lsum_le. intros wc Hi. simpl. rewrite (coins_elsewhere r wc a Hi H2). destruct (place_eq a a) as [_|N]; [|contradiction].
      replace (lsum (fun aq => if (if place_eq (fst aq) a then false else snd wc (fst aq)) then h (fst aq) else 0) r)
        with (lsum (fun aq => if snd wc (fst aq) then h (fst aq) else 0) r).
      2: { apply lsum_ext. intros aq Ha. destruct (place_eq (fst aq) a) as [E|]; auto. exfalso. apply H2. rewrite <- E. apply in_map. auto. }
      set (X := lsum _ r). rewrite Rplus_0_l, Rplus_0_r, exp_plus.
      specialize (H (a, q) (or_introl eq_refl)). simpl in H. pose proof (coins_pos r Hr wc Hi).
      replace (fst wc * q * (exp (h a) * exp X) + fst wc * (1 - q) * exp X) with ((1 + q * (exp (h a) - 1)) * (fst wc * exp X)) by ring.
      apply Rmult_le_compat_r; auto. apply Rmult_le_pos; auto. left. apply exp_pos.
    + rewrite <- lsum_scale. apply Rmult_le_compat_l; [left; apply exp_pos|]. apply IH; auto. intros; apply H; simpl; auto.
Qed.
Lemma tosses_apart : NoDup (map fst tosses).
Proof.
  unfold tosses. generalize (seq_NoDup (length (samples c)) 0). generalize (seq 0 (length (samples c))).
  induction l as [|s l IH]; intros H; simpl; [constructor|]. inversion H; subst. rewrite map_app, map_map. simpl.
  assert (App : forall A (a b : list A), NoDup a -> NoDup b -> (forall x, In x a -> ~ In x b) -> NoDup (a ++ b)).
  { clear. induction a; simpl; intros b Ha Hb Hx; auto. inversion Ha; subst. constructor.
    - rewrite in_app_iff. intros [F|F]; [contradiction|]. apply (Hx a); auto.
    - apply IHa; auto. }
  apply App; auto.
  - generalize (seq_NoDup (drawn_of s) 0). generalize (seq 0 (drawn_of s)). induction l0; intros Hl; simpl; constructor; inversion Hl; subst; auto.
    rewrite in_map_iff. intros (j & E & F). inversion E; subst. contradiction.
  - intros x Hx F. apply in_map_iff in Hx. destruct Hx as (j & <- & _). apply in_map_iff in F. destruct F as (aq & E & F).
    apply in_flat_map in F. destruct F as (s' & Hs & F). apply in_map_iff in F. destruct F as (j' & <- & _). simpl in E.
    inversion E; subst. contradiction.
Qed.

Definition in_sample (s : nat) (x : R) (a : place) : R := match a with Some (s', _) => if Nat.eq_dec s' s then x else 0 | None => 0 end.
Definition heads (cf : place -> bool) (s : nat) : R := lsum (fun j => if cf (Some (s, j)) then 1 else 0) (seq 0 (drawn_of s)).
Lemma lsum_zero : forall A (g : A -> R) l, (forall a, In a l -> g a = 0) -> lsum g l = 0.
Proof. induction l; simpl; intros H; auto. rewrite H, IHl; auto. ring. Qed.
Lemma pick_sample : forall (F : nat -> R) s n m, lsum (fun s' => if Nat.eq_dec s' s then F s' else 0) (seq n m) =
  if andb (n <=? s)%nat (s <? n + m)%nat then F s else 0.
Proof.
  intros F s n m. revert n. induction m; intros n; simpl.
  - destruct (n <=? s)%nat eqn:E1, (s <? n + 0)%nat eqn:E2; simpl; auto.
    apply Nat.leb_le in E1. apply Nat.ltb_lt in E2. lia.
  - rewrite IHm. destruct (Nat.eq_dec n s) as [->|Ne].
    + replace (S s <=? s)%nat with false by (symmetry; apply Nat.leb_gt; lia). rewrite Nat.leb_refl.
      replace (s <? s + S m)%nat with true by (symmetry; apply Nat.ltb_lt; lia). simpl. ring.
    + replace (S n <=? s)%nat with (n <=? s)%nat.
      * replace (s <? S n + m)%nat with (s <? n + S m)%nat; [ring|]. f_equal. lia.
      * destruct (n <=? s)%nat eqn:E1; symmetry; [apply Nat.leb_le in E1; apply Nat.leb_le; lia|apply Nat.leb_gt in E1; apply Nat.leb_gt; lia].
Qed.
Lemma tossed_sample : forall cf s x, (s < length (samples c))%nat -> tossed cf (in_sample s x) tosses = x * heads cf s.
Proof.
  intros cf s x Hs. unfold tossed, tosses. rewrite lsum_flat.
  transitivity (lsum (fun s' => if Nat.eq_dec s' s then x * heads cf s' else 0) (seq 0 (length (samples c)))).
  - apply lsum_ext. intros s' _. rewrite lsum_map. simpl. destruct (Nat.eq_dec s' s).
    + unfold heads. rewrite lsum_scale. apply lsum_ext. intros j _. destruct (cf (Some (s', j))); ring.
    + apply lsum_zero. intros j _. destruct (cf (Some (s', j))); auto.
  - rewrite pick_sample. simpl. replace (s <? length (samples c))%nat with true by (symmetry; apply Nat.ltb_lt; auto). auto.
Qed.
Lemma sum_sample : forall s x, (s < length (samples c))%nat -> lsum (fun aq => in_sample s x (fst aq)) tosses = INR (drawn_of s) * x.
Proof.
  intros s x Hs. pose proof (tossed_sample (fun _ => true) s x Hs) as T. unfold tossed in T. simpl in T. rewrite T. unfold heads.
  rewrite Rmult_comm. f_equal. transitivity (lsum (fun _ : nat => 1) (seq 0 (drawn_of s))); auto. clear. generalize 0%nat. induction (drawn_of s); intros k; auto. 
  cbn [seq lsum]. rewrite IHn, S_INR. ring.
Qed.

(* ---- what a path costs ---- *)
Definition cost_of (cf : place -> bool) (p : change) (l : list (nat * place)) : R :=
  lsum (fun a => if cf (snd a) then Q2R (price (release_at c (fst a)) p) else 0) l.
Lemma Q2R_pos : forall t, Q2R (Zpos t # 1) = INR (Pos.to_nat t).
Proof. intros. unfold Q2R. simpl. rewrite INR_IZR_INZ, positive_nat_Z. field. Qed.
Lemma lsum_repeat : forall A (g : A -> R) a n, lsum g (repeat a n) = INR n * g a.
Proof. induction n; [simpl; ring|]. cbn [repeat lsum]. rewrite IHn, S_INR. ring. Qed.
Lemma of_draws : forall r s, release_ok c r = true -> rsample r = Some s ->
  (s < length (samples c))%nat /\ (Pos.to_nat (rtimes r) = Pos.to_nat (rtimes r) / drawn_of s * drawn_of s)%nat /\
  INR (Pos.to_nat (rtimes r) / drawn_of s) = Q2R ((Zpos (rtimes r) # 1) / (Zpos (drawn (sample_at c s)) # 1)).
Proof.
  intros r s H E. unfold release_ok in H. rewrite !andb_true_iff in H. destruct H as [_ H]. rewrite E in H. apply andb_true_iff in H.
  destruct H as [H1 H2]. apply Nat.ltb_lt in H1. apply Z.eqb_eq in H2. split; auto.
  assert (D : (Pos.to_nat (rtimes r) = Pos.to_nat (rtimes r) / drawn_of s * drawn_of s)%nat).
  { assert (Nz : drawn_of s <> 0%nat) by (unfold drawn_of; lia).
    rewrite Nat.mul_comm. apply Nat.div_exact; auto. apply Nat2Z.inj. rewrite Nat2Z.inj_mod. unfold drawn_of. rewrite !positive_nat_Z. auto. }
  split; auto. rewrite Q2R_div by (unfold Qeq; simpl; discriminate). rewrite !Q2R_pos. fold (drawn_of s).
  assert (N : INR (drawn_of s) <> 0) by (apply not_0_INR; unfold drawn_of; lia).
  assert (X : INR (Pos.to_nat (rtimes r)) = INR (Pos.to_nat (rtimes r) / drawn_of s) * INR (drawn_of s)) by (rewrite <- mult_INR, <- D; auto).
  rewrite X. field. auto.
Qed.
Definition path_ok (P : list nat) : Prop := forall i, In i P -> release_ok c (release_at c i) = true.
Lemma cost_outside : forall p P, path_ok P -> replaced c = true -> cost_of (fun _ => true) p (flat_map made_of P) = Q2R (outside c P p).
Proof.
  intros p P HP HR. unfold outside, is_outside. rewrite HR. simpl. induction P as [|i P IH]; [symmetry; apply RMicromega.Q2R_0|].
  cbn [flat_map fold_right]. unfold cost_of in *. rewrite lsum_app, IH by (intros j Hj; apply HP; simpl; auto).
  rewrite Q2R_qadd, Q2R_mult. f_equal. unfold times_of. rewrite Q2R_pos.
  pose proof (HP i (or_introl eq_refl)) as Hi. unfold made_of. destruct (rsample (release_at c i)) as [s|] eqn:E.
  - destruct (of_draws _ s Hi E) as (_ & D & _). rewrite lsum_flat.
    replace (INR (Pos.to_nat (rtimes (release_at c i)))) with (INR (Pos.to_nat (rtimes (release_at c i)) / drawn_of s) * INR (drawn_of s)) by (rewrite <- mult_INR, <- D; auto).
    generalize (Pos.to_nat (rtimes (release_at c i)) / drawn_of s)%nat. intros k. generalize 0%nat. clear.
    induction (drawn_of s); intros j; [simpl; ring|]. cbn [seq lsum]. rewrite IHn, lsum_repeat, S_INR. simpl. ring.
  - rewrite lsum_repeat. simpl. auto.
Qed.
Lemma cost_split : forall cf p P s, path_ok P -> replaced c = false -> cf None = true ->
  (forall i, In i P -> rsample (release_at c i) = None \/ rsample (release_at c i) = Some s) ->
  cost_of cf p (flat_map made_of P) = Q2R (outside c P p) + Q2R (inside c P p) * heads cf s.
Proof.
  intros cf p P s HP HR HN HS. unfold outside, inside, is_outside. rewrite HR. simpl.
  induction P as [|i P IH]; [cbn [flat_map fold_right]; unfold cost_of; simpl; rewrite RMicromega.Q2R_0; ring|].
  cbn [flat_map fold_right]. unfold cost_of in *. rewrite lsum_app, IH by (intros j Hj; first [apply HP; simpl; auto|apply HS; simpl; auto]).
  pose proof (HP i (or_introl eq_refl)) as Hi. unfold made_of. destruct (HS i (or_introl eq_refl)) as [E|E]; rewrite E.
  - rewrite Q2R_qadd, Q2R_mult. unfold times_of. rewrite Q2R_pos, lsum_repeat. simpl. rewrite HN. ring.
  - destruct (of_draws _ s Hi E) as (_ & _ & D). rewrite Q2R_qadd, Q2R_mult. unfold times_of. rewrite <- D. rewrite lsum_flat.
    generalize (Pos.to_nat (rtimes (release_at c i)) / drawn_of s)%nat. intros k. unfold heads.
    assert (X : lsum (fun j => lsum (fun a : nat * place => if cf (snd a) then Q2R (price (release_at c (fst a)) p) else 0) (repeat (i, Some (s, j)) k)) (seq 0 (drawn_of s)) =
                INR k * Q2R (price (release_at c i) p) * lsum (fun j => if cf (Some (s, j)) then 1 else 0) (seq 0 (drawn_of s))).
    { rewrite lsum_scale. apply lsum_ext. intros j _. rewrite lsum_repeat. simpl. destruct (cf (Some (s, j))); ring. }
    match goal with |- ?L + _ = _ => change L with (lsum (fun j => lsum (fun a : nat * place => if cf (snd a) then Q2R (price (release_at c (fst a)) p) else 0) (repeat (i, Some (s, j)) k)) (seq 0 (drawn_of s))) end.
    rewrite X. ring.
Qed.
(* ---- what the check says of a path ---- *)
Lemma amplified_ok : forall q e l, 0 <= Q2R q <= 1 -> 0 <= Q2R l -> amplified q e l = true -> 1 + Q2R q * (exp (Q2R e) - 1) <= exp (Q2R l).
Proof.
  intros q e l Hq Hl H. pose proof (exp_pos (Q2R e)) as Pe. unfold amplified in H. apply orb_true_iff in H. destruct H as [H|H].
  - apply Qle_bool_R in H. apply exp_le in H. pose proof (exp_le 0 (Q2R l) Hl) as L. rewrite exp_0 in L.
    destruct (Rle_dec 1 (exp (Q2R e))) as [G|G].
    + apply Rle_trans with (1 + 1 * (exp (Q2R e) - 1)); [|lra]. apply Rplus_le_compat_l, Rmult_le_compat_r; lra.
    + assert (Q2R q * (exp (Q2R e) - 1) <= Q2R q * 0) by (apply Rmult_le_compat_l; lra). lra.
  - cbv zeta in H. rewrite !andb_true_iff in H. destruct H as [[Hn Ha] H]. apply pos_R in Hn, Ha. apply Qle_bool_R in H.
    assert (N1 : ~ (below_exp l == 0)%Q) by (intro Z; apply Qeq_eqR in Z; rewrite RMicromega.Q2R_0 in Z; lra).
    assert (N2 : ~ (below_exp (l - e) == 0)%Q) by (intro Z; apply Qeq_eqR in Z; rewrite RMicromega.Q2R_0 in Z; lra).
    rewrite Q2R_plus, !Q2R_div, Q2R_minus, Q2R_1 in H by auto.
    pose proof (below_exp_ok l) as B1. pose proof (below_exp_ok (l - e)) as B2. rewrite Q2R_minus in B2.
    assert (Inv : forall x y, 0 < x -> x <= exp y -> exp (- y) <= / x).
    { intros x y Hx Hxy. rewrite exp_Ropp. apply Rinv_le_contravar; auto. }
    apply Inv in B1, B2; auto. replace (- (Q2R l - Q2R e)) with (Q2R e + - Q2R l) in B2 by ring. rewrite exp_plus in B2.
    assert (S : (1 - Q2R q) * exp (- Q2R l) + Q2R q * (exp (Q2R e) * exp (- Q2R l)) <= 1).
    { eapply Rle_trans; [|exact H]. apply Rplus_le_compat; apply Rmult_le_compat_l; auto; lra. }
    apply Rmult_le_reg_r with (exp (- Q2R l)); [apply exp_pos|]. rewrite <- exp_plus, Rplus_opp_r, exp_0. lra.
Qed.
Lemma cheaper_trans : forall x y z, cheaper x y = true -> cheaper y z = true -> cheaper x z = true.
Proof.
  unfold cheaper. intros x y z H1 H2. rewrite andb_true_iff in *. rewrite !Qle_bool_R in *. lra.
Qed.
Lemma cheaper_refl : forall x, cheaper x x = true.
Proof. intros. unfold cheaper. rewrite andb_true_iff, !Qle_bool_R. lra. Qed.
Lemma dearest_all : forall l x, In x l -> exists y, In y (dearest l) /\ cheaper x y = true.
Proof.
  induction l as [|a l IH]; intros x H; [contradiction|]. simpl.
  assert (K : forall x, In x l -> exists y, In y (if existsb (cheaper a) (dearest l) then dearest l else a :: filter (fun b => negb (cheaper b a)) (dearest l)) /\ cheaper x y = true).
  { intros z Hz. destruct (IH z Hz) as (y & Hy & C). destruct existsb; [eauto|].
    destruct (cheaper y a) eqn:E.
    - exists a. split; simpl; auto. eapply cheaper_trans; eauto.
    - exists y. split; auto. right. apply filter_In. rewrite E. auto. }
  destruct H as [<-|H]; [|auto]. destruct existsb eqn:E.
  - apply existsb_exists in E. destruct E as (y & Hy & C). eauto.
  - exists a. split; simpl; auto. apply cheaper_refl.
Qed.

Hypothesis Hcheck : check_releases c = true.
Definition share : R := Q2R (rbound c) / INR (Pos.to_nat (groups c)).
Lemma releases_ok : forall i, (i < length (releases c))%nat -> release_ok c (release_at c i) = true.
Proof.
  intros i Hi. unfold check_releases in Hcheck. rewrite !andb_true_iff in Hcheck. destruct Hcheck as [[_ H] _].
  rewrite forallb_forall in H. apply H. apply nth_In. auto.
Qed.
Lemma paths_ok : forall P, In P (paths c) -> path_ok P /\ one_sample c P = true /\
  forall p, In p (changes c (kinds_of c)) -> exists o e, Q2R (outside c P p) <= Q2R o /\ Q2R (inside c P p) <= Q2R e /\ spent_ok c P (o, e) = true.
Proof.
  intros P HP. pose proof Hcheck as H. unfold check_releases in H. rewrite !andb_true_iff in H. destruct H as [_ H]. cbv zeta in H.
  rewrite forallb_forall in H. specialize (H P HP). rewrite !andb_true_iff in H. destruct H as [[H1 H2] H3].
  rewrite forallb_forall in H1, H3. repeat split; auto.
  - intros i Hi. apply releases_ok. specialize (H1 i Hi). apply Nat.ltb_lt in H1. auto.
  - intros p Hp. destruct (dearest_all (map (fun p => (outside c P p, inside c P p)) (changes c (kinds_of c))) (outside c P p, inside c P p)) as ([o e] & Hy & C).
    { apply in_map_iff. eauto. }
    exists o, e. unfold cheaper in C. rewrite andb_true_iff, !Qle_bool_R in C. simpl in C. destruct C. repeat split; auto.
Qed.
Lemma share_is : Q2R (rbound c / (Zpos (groups c) # 1)) = share.
Proof. rewrite Q2R_div by (unfold Qeq; simpl; discriminate). rewrite Q2R_pos. auto. Qed.
Lemma outside_bound : forall P p, In P (paths c) -> In p (changes c (kinds_of c)) -> Q2R (outside c P p) <= share.
Proof.
  intros P p HP Hp. destruct (paths_ok P HP) as (_ & _ & H). destruct (H p Hp) as (o & e & Ho & _ & S).
  unfold spent_ok in S. cbv zeta in S. apply andb_true_iff in S. destruct S as [S _]. apply Qle_bool_R in S.
  rewrite Q2R_Qred, Q2R_minus, share_is, RMicromega.Q2R_0 in S. cbn [fst] in S. lra.
Qed.

(* Over all coins, a path costs no more than its share. *)
Lemma path_bound : forall P p, In P (paths c) -> In p (changes c (kinds_of c)) -> replaced c = false ->
  lsum (fun wc : R * (place -> bool) => fst wc * exp (cost_of (snd wc) p (flat_map made_of P))) (coins tosses) <= exp share.
Proof.
  intros P p HP Hp HR. destruct (paths_ok P HP) as (Hi & H1 & H). destruct (H p Hp) as (o & e & Ho & He & S). clear H.
  assert (HN : forall wc, In wc (coins tosses) -> snd wc None = true).
  { intros wc Hw. apply (coins_elsewhere tosses); auto. intros F. apply in_map_iff in F. destruct F as (aq & E & F).
    unfold tosses in F. apply in_flat_map in F. destruct F as (s & _ & F). apply in_map_iff in F. destruct F as (j & <- & _). discriminate. }
  unfold one_sample in H1. rewrite HR in H1. simpl in H1. rewrite forallb_forall in H1.
  unfold spent_ok in S. cbv zeta in S. cbn [fst snd] in S. apply andb_true_iff in S. destruct S as [S1 S2]. apply Qle_bool_R in S1.
  rewrite Q2R_Qred, Q2R_minus, share_is, RMicromega.Q2R_0 in S1.
  destruct (sample_of c P) as [s|] eqn:Es.
  - assert (HS : forall i, In i P -> rsample (release_at c i) = None \/ rsample (release_at c i) = Some s).
    { intros i Hin. specialize (H1 i Hin). destruct (rsample (release_at c i)); auto. apply Nat.eqb_eq in H1. subst. auto. }
    assert (Hs : (s < length (samples c))%nat).
    { assert (X : exists i, In i P /\ rsample (release_at c i) = Some s).
      { clear -Es. unfold sample_of in Es. induction P as [|i P IH]; simpl in Es; [discriminate|].
        destruct (rsample (release_at c i)) eqn:E; [inversion Es; subst; exists i; simpl; auto|]. destruct (IH Es) as (j & A & B). exists j. simpl. auto. }
      destruct X as (i & A & B). destruct (of_draws _ s (Hi i A) B). auto. }
    set (x := Q2R (inside c P p)) in *.
    assert (L : exists l, 0 <= l /\ 1 + Q2R (rate_of (sample_at c s)) * (exp x - 1) <= exp l /\ Q2R o + INR (drawn_of s) * l <= share).
    { apply orb_true_iff in S2. pose proof (rate_01 s) as Hq. destruct S2 as [S2|S2].
      - apply Qle_bool_R in S2. rewrite RMicromega.Q2R_0 in S2. exists 0. rewrite exp_0. pose proof (exp_le x 0 ltac:(lra)) as X. rewrite exp_0 in X.
        assert (Q2R (rate_of (sample_at c s)) * (exp x - 1) <= Q2R (rate_of (sample_at c s)) * 0) by (apply Rmult_le_compat_l; lra). lra.
      - set (l := Qred (Qred (rbound c / (Zpos (groups c) # 1) - o) / (Zpos (drawn (sample_at c s)) # 1))) in *.
        assert (N : 0 < INR (drawn_of s)) by (apply lt_0_INR; unfold drawn_of; lia).
        assert (El : Q2R l = (share - Q2R o) / INR (drawn_of s)).
        { unfold l. rewrite Q2R_Qred, Q2R_div by (unfold Qeq; simpl; discriminate). rewrite Q2R_Qred, Q2R_minus, share_is, Q2R_pos. auto. }
        assert (Hl : 0 <= Q2R l). { rewrite El. unfold Rdiv. apply Rmult_le_pos; [lra|]. left. apply Rinv_0_lt_compat. auto. }
        exists (Q2R l). repeat split; auto.
        + pose proof (amplified_ok _ _ _ Hq Hl S2) as X. pose proof (exp_le x (Q2R e) He).
          eapply Rle_trans; [|apply X]. apply Rplus_le_compat_l, Rmult_le_compat_l; lra.
        + rewrite El. right. field. lra. }
    destruct L as (l & Hl & HL & HB).
    apply Rle_trans with (exp (Q2R (outside c P p)) * exp (lsum (fun aq => in_sample s l (fst aq)) tosses)).
    + apply Rle_trans with (lsum (fun wc : R * (place -> bool) => exp (Q2R (outside c P p)) * (fst wc * exp (tossed (snd wc) (in_sample s x) tosses))) (coins tosses)).
      * apply lsum_le. intros wc Hw. rewrite (cost_split (snd wc) p P s Hi HR (HN wc Hw) HS). rewrite tossed_sample by auto. fold x. rewrite exp_plus. right. ring.
      * rewrite <- lsum_scale. apply Rmult_le_compat_l; [left; apply exp_pos|].
        apply (coins_cost (in_sample s x) (in_sample s l) tosses tosses_01 tosses_apart).
        intros aq Ha. unfold tosses in Ha. apply in_flat_map in Ha. destruct Ha as (s' & _ & Ha). apply in_map_iff in Ha. destruct Ha as (j & <- & _).
        simpl. destruct (Nat.eq_dec s' s) as [->|]; auto. rewrite exp_0. lra.
    + rewrite sum_sample by auto. rewrite <- exp_plus. apply exp_le. lra.
  - assert (HS : forall i, In i P -> rsample (release_at c i) = None).
    { intros i Hin. specialize (H1 i Hin). destruct (rsample (release_at c i)); auto. discriminate. }
    assert (Z : Q2R (inside c P p) = 0).
    { clear -HS. unfold inside. induction P as [|i P IH]; simpl; [apply RMicromega.Q2R_0|]. rewrite (HS i) by (simpl; auto). apply IH. intros; apply HS; simpl; auto. }
    apply Rle_trans with (lsum (fun wc : R * (place -> bool) => exp share * fst wc) (coins tosses)).
    + apply lsum_le. intros wc Hw. rewrite (cost_split (snd wc) p P 0%nat Hi HR (HN wc Hw)) by (intros; left; auto). rewrite Z, Rmult_0_l, Rplus_0_r.
      rewrite Rmult_comm. apply Rmult_le_compat_r; [apply (coins_pos _ tosses_01 _ Hw)|]. apply exp_le. lra.
    + rewrite <- lsum_scale. pose proof (coins_one tosses) as X. unfold lsum in *. rewrite X. lra.
Qed.
(* ---- units and changes ---- *)
Lemma kind_known : forall r, in_domain (columns c) r -> In (kind r) (kinds_of c).
Proof. intros. apply every_record_is_of_a_kind. auto. Qed.
Definition comes_of (u : unit_of_privacy) : list (R * change) := map (fun wr => (fst wr, (kind (snd wr), None))) u.
Definition replaces (u v : unit_of_privacy) : list (R * change) :=
  flat_map (fun a => map (fun b => (fst a * fst b, (kind (snd a), Some (kind (snd b))))) v) u.
Definition fair (W : list (R * change)) := weights W /\ lsum fst W = 1 /\ forall wp, In wp W -> In (snd wp) (changes c (kinds_of c)).

Lemma comes_fair : forall u, is_unit u -> replaced c = false -> fair (comes_of u).
Proof.
  intros u (_ & Hu & Hs) HR. rewrite Forall_forall in Hu. unfold fair, comes_of. repeat split.
  - intros wp H. apply in_map_iff in H. destruct H as (wr & <- & H). apply (Hu wr H).
  - rewrite lsum_map. auto.
  - intros wp H. apply in_map_iff in H. destruct H as (wr & <- & H). unfold changes. rewrite HR. simpl.
    apply in_map_iff. exists (kind (snd wr)). split; auto. apply kind_known. apply (Hu wr H).
Qed.
Lemma comes_changed : forall u A B, is_unit u -> changed (comes_of u) (A ++ B) (A ++ u :: B).
Proof.
  intros u A B Hu t T HT. specialize (HT A u B Hu).
  assert (E : forall (x : change -> Q) y, (forall k, Q2R (x (k, None)) = if is_in k t then Q2R y else 0) -> mixed (comes_of u) x = Q2R y * presence u t).
  { intros x y Hx. unfold mixed, comes_of, presence. rewrite lsum_map, lsum_scale. apply lsum_ext. intros wr _. simpl. rewrite Hx. destruct (is_in (kind (snd wr)) t); ring. }
  rewrite (E (fun p : change => fst (moved_term t p)) (tlow t)), (E (fun p : change => snd (moved_term t p)) (thigh t)); auto;
    intros k; unfold moved_term, in_change; cbn [fst snd]; rewrite Q2R_qadd, RMicromega.Q2R_0; destruct (is_in k t); rewrite ?RMicromega.Q2R_0; ring.
Qed.
Lemma replaces_fair : forall u v, is_unit u -> is_unit v -> replaced c = true -> fair (replaces u v).
Proof.
  intros u v (_ & Hu & Su) (_ & Hv & Sv) HR. rewrite Forall_forall in Hu, Hv.
  assert (Inv : forall wp, In wp (replaces u v) -> exists a b, In a u /\ In b v /\ wp = (fst a * fst b, (kind (snd a), Some (kind (snd b))))).
  { intros wp H. unfold replaces in H. apply in_flat_map in H. destruct H as (a & Ha & H). apply in_map_iff in H. destruct H as (b & <- & Hb). eauto 6. }
  unfold fair. repeat split.
  - intros wp H. destruct (Inv wp H) as (a & b & Ha & Hb & ->). simpl. apply Rmult_le_pos; [apply (Hu a Ha)|apply (Hv b Hb)].
  - unfold replaces. rewrite lsum_flat. transitivity (lsum fst u); auto. apply lsum_ext. intros a _. rewrite lsum_map. simpl. rewrite <- lsum_scale.
    etransitivity; [apply f_equal; exact Sv|]. ring.
  - intros wp H. destruct (Inv wp H) as (a & b & Ha & Hb & ->). unfold changes. rewrite HR. simpl. apply in_flat_map. exists (kind (snd a)).
    split; [apply kind_known; apply (Hu a Ha)|]. apply in_map_iff. exists (kind (snd b)). split; auto. apply kind_known. apply (Hv b Hb).
Qed.
Lemma replaces_changed : forall u v A B, is_unit u -> is_unit v -> changed (replaces u v) (A ++ v :: B) (A ++ u :: B).
Proof.
  intros u v A B Hu Hv t T HT. pose proof (HT A u B Hu) as H1. pose proof (HT A v B Hv) as H2.
  assert (E : forall (x : change -> Q) y z, (forall k g, Q2R (x (k, Some g)) = (if is_in k t then y else 0) - (if is_in g t then z else 0)) ->
            mixed (replaces u v) x = y * presence u t - z * presence v t).
  { intros x y z Hx. unfold mixed, replaces, presence. rewrite lsum_flat.
    transitivity (lsum (fun a : R * record => (if is_in (kind (snd a)) t then y else 0) * fst a * lsum fst v -
                    fst a * (z * lsum (fun wr => if is_in (kind (snd wr)) t then fst wr else 0) v)) u).
    - apply lsum_ext. intros a _. rewrite lsum_map.
      transitivity (lsum (fun b : R * record => fst a * fst b * ((if is_in (kind (snd a)) t then y else 0) - (if is_in (kind (snd b)) t then z else 0))) v).
      + apply lsum_ext. intros b _. cbn [fst snd]. rewrite Hx. auto.
      + clear. induction v as [|b v IH]; simpl; [ring|]. rewrite IH. destruct (is_in (kind (snd a)) t), (is_in (kind (snd b)) t); ring.
    - destruct Hu as (_ & _ & Su), Hv as (_ & _ & Sv). rewrite Sv. generalize (lsum (fun wr : R * record => if is_in (kind (snd wr)) t then fst wr else 0) v). intros q.
      transitivity (y * lsum (fun wr : R * record => if is_in (kind (snd wr)) t then fst wr else 0) u - z * q * lsum fst u); [|rewrite Su; ring].
      clear. induction u as [|a u IH]; simpl; [ring|]. rewrite IH. destruct (is_in (kind (snd a)) t); ring. }
  rewrite (E (fun p : change => fst (moved_term t p)) (Q2R (tlow t)) (Q2R (thigh t))), (E (fun p : change => snd (moved_term t p)) (Q2R (thigh t)) (Q2R (tlow t))); [lra| |];
    intros k g; unfold moved_term, in_change; cbn [fst snd]; rewrite Q2R_qadd; destruct (is_in k t), (is_in g t); rewrite ?Q2R_opp, ?RMicromega.Q2R_0; ring.
Qed.

(* ---- sums of weights ---- *)
Lemma jensen : forall X (W : list (R * X)) z, (forall a, In a W -> 0 <= fst a) -> lsum fst W = 1 ->
  exp (lsum (fun a => fst a * z (snd a)) W) <= lsum (fun a => fst a * exp (z (snd a))) W.
Proof.
  intros X W z HW HS. set (m := lsum (fun a => fst a * z (snd a)) W).
  apply Rle_trans with (lsum (fun a => fst a * (exp m * (1 + (z (snd a) - m)))) W).
  - right. assert (E : forall e k, lsum (fun a => fst a * (e * (1 + (z (snd a) - k)))) W = e * ((1 - k) * lsum fst W + lsum (fun a => fst a * z (snd a)) W)).
    { clear. intros e k. induction W as [|a W IH]; simpl; [ring|]. rewrite IH. ring. }
    rewrite E, HS. fold m. ring.
  - apply lsum_le. intros a Ha. apply Rmult_le_compat_l; auto. replace (exp (z (snd a))) with (exp m * exp (z (snd a) - m)) by (rewrite <- exp_plus; f_equal; ring).
    apply Rmult_le_compat_l; [left; apply exp_pos|]. apply exp_ineq1_le.
Qed.
Lemma harmonic : forall X (W : list X) w z e, (forall a, In a W -> 0 <= w a) -> lsum w W = 1 ->
  lsum (fun a => w a * exp (z a)) W <= exp e -> exp (- e) <= lsum (fun a => w a * exp (- z a)) W.
Proof.
  intros X W w z e HW HS H. set (k := exp (- e)).
  assert (K : 0 < k) by apply exp_pos. assert (Ke : k * exp e = 1) by (unfold k; rewrite <- exp_plus, Rplus_opp_l; apply exp_0).
  apply Rle_trans with (lsum (fun a => w a * (2 * k - k * k * exp (z a))) W).
  - assert (E : lsum (fun a => w a * (2 * k - k * k * exp (z a))) W = 2 * k * lsum w W - k * k * lsum (fun a => w a * exp (z a)) W).
    { clear. induction W as [|a W IH]; simpl; [ring|]. rewrite IH. ring. }
    rewrite E, HS. assert (k * k * lsum (fun a => w a * exp (z a)) W <= k * k * exp e) by (apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|auto]).
    replace (k * k * exp e) with (k * (k * exp e)) in H0 by ring. rewrite Ke in H0. lra.
  - apply lsum_le. intros a Ha. apply Rmult_le_compat_l; auto. rewrite exp_Ropp. pose proof (exp_pos (z a)) as P. set (y := exp (z a)) in *.
    apply Rmult_le_reg_r with y; auto. rewrite Rinv_l by lra. pose proof (Rle_0_sqr (1 - k * y)) as Q. unfold Rsqr in Q. nra.
Qed.
Lemma lsum_perm : forall A (g : A -> R) l m, Permutation l m -> lsum g l = lsum g m.
Proof. induction 1; simpl; congruence || lra. Qed.

Definition cost_with (W : list (R * change)) (cf : place -> bool) (i : nat) (s : place) : R :=
  if cf s then mixed W (price (release_at c i)) else 0.
Lemma cost_with_path : forall W cf l P rest, weights W -> Permutation (l ++ rest) (flat_map made_of P) ->
  lsum (fun a => cost_with W cf (fst a) (snd a)) l <= lsum (fun wp => fst wp * cost_of cf (snd wp) (flat_map made_of P)) W.
Proof.
  intros W cf l P rest HW HP.
  apply Rle_trans with (lsum (fun wp => fst wp * cost_of cf (snd wp) l) W).
  - right. unfold cost_of, cost_with, mixed.
    transitivity (lsum (fun a => lsum (fun wp => fst wp * (if cf (snd a) then Q2R (price (release_at c (fst a)) (snd wp)) else 0)) W) l).
    + apply lsum_ext. intros a _. destruct (cf (snd a)); auto. symmetry. apply lsum_zero. intros. ring.
    + rewrite lsum_swap. apply lsum_ext. intros wp _. rewrite lsum_scale. auto.
  - apply lsum_le. intros wp Hi. apply Rmult_le_compat_l; [apply HW; auto|]. unfold cost_of. rewrite <- (lsum_perm _ _ _ _ HP), lsum_app.
    assert (0 <= lsum (fun a => if cf (snd a) then Q2R (price (release_at c (fst a)) (snd wp)) else 0) rest); [|lra].
    apply lsum_pos. intros a _. destruct (cf (snd a)); [apply price_pos|lra].
Qed.
Lemma every_imp : forall (P Q : nat -> place -> (data -> output_law) -> Prop) p, (forall i s K, P i s K -> Q i s K) -> every P p -> every Q p.
Proof. induction p; simpl; intros HPQ He; auto. destruct He. split; auto. Qed.

(* ---- one step ---- *)
Section Step.
Variable p : program data place.
Hypothesis Hp : described p.
Variable f : list (list R) -> R.
Hypothesis Hf : bounded f.

Lemma fair_bound : forall W, fair W -> replaced c = false -> forall l, path p l ->
  lsum (fun wc : R * (place -> bool) => fst wc * exp (lsum (fun a => cost_with W (snd wc) (fst a) (snd a)) l)) (coins tosses) <= exp share.
Proof.
  intros W (HW & HS & HC) HR l Hl. destruct (proj2 Hp l Hl) as (P & rest & HP & Pe).
  apply Rle_trans with (lsum (fun wc : R * (place -> bool) => fst wc * lsum (fun wp => fst wp * exp (cost_of (snd wc) (snd wp) (flat_map made_of P))) W) (coins tosses)).
  - apply lsum_le. intros wc Hw. apply Rmult_le_compat_l; [apply (coins_pos _ tosses_01 _ Hw)|].
    eapply Rle_trans; [apply exp_le, (cost_with_path W (snd wc) l P rest HW Pe)|].
    apply (jensen change W (fun q => cost_of (snd wc) q (flat_map made_of P))); auto.
  - apply Rle_trans with (lsum (fun wp => fst wp * lsum (fun wc : R * (place -> bool) => fst wc * exp (cost_of (snd wc) (snd wp) (flat_map made_of P))) (coins tosses)) W).
    + right. transitivity (lsum (fun wc : R * (place -> bool) => lsum (fun wp => fst wc * (fst wp * exp (cost_of (snd wc) (snd wp) (flat_map made_of P)))) W) (coins tosses)).
      * apply lsum_ext. intros wc _. apply lsum_scale.
      * rewrite lsum_swap. apply lsum_ext. intros wp _. rewrite lsum_scale. apply lsum_ext. intros. ring.
    + apply Rle_trans with (lsum (fun wp => exp share * fst wp) W).
      * apply lsum_le. intros wp Hi. rewrite Rmult_comm. apply Rmult_le_compat_r; [apply HW; auto|]. apply path_bound; auto.
      * rewrite <- lsum_scale. change (exp share * lsum fst W <= exp share). rewrite HS. lra.
Qed.

Lemma one_more : forall A u B, is_unit u -> replaced c = false ->
  mechanism p (A ++ u :: B) f <= exp share * mechanism p (A ++ B) f /\ mechanism p (A ++ B) f <= exp share * mechanism p (A ++ u :: B) f.
Proof.
  intros A u B Hu HR. pose proof (comes_fair u Hu HR) as HF. pose proof HF as (HW & _). unfold mechanism.
  set (C := fun wc : R * (place -> bool) => cost_with (comes_of u) (snd wc)).
  assert (N : forall i s K S T wc g, (i < length (releases c))%nat /\ is_release (release_at c i) K -> bounded g ->
    M (K (with_unit wc u S T s)) g <= exp (C wc i s) * M (K (S s ++ T s)) g /\
    M (K (S s ++ T s)) g <= exp (C wc i s) * M (K (with_unit wc u S T s)) g).
  { intros i s K S T wc g [Hi HK] Hg. unfold with_unit, C, cost_with. destruct (snd wc s).
    - assert (Fi : fits (release_at c i) (S s ++ T s) (S s ++ u :: T s)).
      { pose proof (releases_ok i Hi) as R. unfold release_ok in R. rewrite HR, !andb_true_iff in R. destruct R as [[_ R] _]. unfold fits.
        destruct (rlaw (release_at c i)); auto. discriminate. }
      destruct (price_holds (release_at c i) K (comes_of u) (S s ++ T s) (S s ++ u :: T s) g (releases_ok i Hi) Fi HW (comes_changed u _ _ Hu) HK Hg). auto.
    - rewrite exp_0. lra. }
  rewrite over_with, over_app. rewrite <- !over_scale. split; apply over_mono; intros S; rewrite <- over_scale; apply over_mono; intros T.
  - apply (weighted data place _ (coins tosses) (fun wc => with_unit wc u S T) (fun a => S a ++ T a) C p fst (exp share) f); auto.
    + refine (every_imp _ _ p _ (proj1 Hp)). intros i s K H wc g _ Hg. apply N; auto.
    + intros. apply (coins_pos _ tosses_01). auto.
    + intros l Hl. apply (fair_bound _ HF HR l Hl).
  - apply Rmult_le_reg_l with (exp (- share)); [apply exp_pos|]. rewrite <- Rmult_assoc, <- exp_plus, Rplus_opp_l, exp_0, Rmult_1_l.
    apply (weighted_below data place _ (coins tosses) (fun wc => with_unit wc u S T) (fun a => S a ++ T a) C p fst (exp (- share)) f); auto.
    + refine (every_imp _ _ p _ (proj1 Hp)). intros i s K H wc g _ Hg. apply N; auto.
    + intros. apply (coins_pos _ tosses_01). auto.
    + left. apply exp_pos.
    + intros l Hl. apply (harmonic _ (coins tosses) fst (fun wc => lsum (fun a => C wc (fst a) (snd a)) l) share).
      * intros. apply (coins_pos _ tosses_01). auto.
      * exact (coins_one tosses).
      * apply (fair_bound _ HF HR l Hl).
Qed.

Lemma one_other : forall A u v B, is_unit u -> is_unit v -> replaced c = true ->
  mechanism p (A ++ u :: B) f <= exp share * mechanism p (A ++ v :: B) f.
Proof.
  intros A u v B Hu Hv HR. pose proof (replaces_fair u v Hu Hv HR) as (HW & HS & HC). unfold mechanism.
  rewrite !over_with. rewrite <- over_scale. apply over_mono. intros S. rewrite <- over_scale. apply over_mono. intros T.
  rewrite lsum_scale. apply lsum_le. intros wc Hw. rewrite (Rmult_comm (exp share)), Rmult_assoc, (Rmult_comm _ (exp share)).
  apply Rmult_le_compat_l; [apply (coins_pos _ tosses_01 _ Hw)|].
  apply (composition data place p (with_unit wc u S T) (with_unit wc v S T) (cost_with (replaces u v) (fun _ => true))); auto.
  - refine (every_imp _ _ p _ (proj1 Hp)). intros i s K [Hi HK] x g _ Hg. unfold cost_with, with_unit. destruct (snd wc s).
    + assert (Fi : fits (release_at c i) (S s ++ v :: T s) (S s ++ u :: T s)) by (unfold fits; destruct (rlaw (release_at c i)); eauto 6).
      destruct (price_holds (release_at c i) K (replaces u v) (S s ++ v :: T s) (S s ++ u :: T s) g (releases_ok i Hi) Fi HW (replaces_changed u v _ _ Hu Hv) HK Hg). auto.
    + assert (0 <= M (K (S s ++ T s)) g) by (destruct Hg as [U Hg]; apply (M_range (K (S s ++ T s)) g U); auto).
      rewrite <- (Rmult_1_l (M (K (S s ++ T s)) g)) at 1. apply Rmult_le_compat_r; auto. rewrite <- exp_0. apply exp_le.
      apply mixed_pos; auto. intros. apply price_pos.
  - intros l Hl. destruct (proj2 Hp l Hl) as (P & rest & HP & Pe).
    eapply Rle_trans; [apply (cost_with_path (replaces u v) (fun _ => true) l P rest HW Pe)|].
    apply Rle_trans with (lsum (fun wp => share * fst wp) (replaces u v)).
    + apply lsum_le. intros wp Hi. rewrite Rmult_comm. apply Rmult_le_compat_r; [apply HW; auto|].
      rewrite cost_outside; auto; [|apply (paths_ok P HP)]. apply outside_bound; auto.
    + rewrite <- lsum_scale. change (share * lsum fst (replaces u v) <= share). rewrite HS. lra.
Qed.

Lemma step_private : forall D D', neighbours D D' -> mechanism p D f <= exp share * mechanism p D' f.
Proof.
  intros D D' (A & u & B & Hu & H). destruct (replaced c) eqn:HR.
  - destruct H as (v & Hv & -> & ->). apply one_other; auto.
  - destruct H as [[-> ->] | [-> ->]]; apply one_more; auto.
Qed.
Lemma share_pos : 0 <= share.
Proof.
  unfold share, Rdiv. apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat, lt_0_INR; lia].
  pose proof Hcheck as H. unfold check_releases in H. rewrite !andb_true_iff in H. destruct H as [[[H _] _] _].
  apply Qle_bool_R in H. rewrite RMicromega.Q2R_0 in H. auto.
Qed.
Lemma mechanism_pos : forall D, 0 <= mechanism p D f.
Proof.
  intros. unfold mechanism. pose proof (over_scale D 0 (fun _ => 0)) as Z. rewrite Rmult_0_l in Z.
  eapply Rle_trans; [right; symmetry; exact Z|]. apply over_mono. intros S. destruct Hf as [U HU].
  pose proof (go_on_range data place p S f U HU). lra.
Qed.
Lemma steps_private : forall n D D', steps_apart n D D' -> mechanism p D f <= exp (INR n * share) * mechanism p D' f.
Proof.
  induction n; intros D D' H; simpl in H.
  - subst. simpl. rewrite Rmult_0_l, exp_0. lra.
  - destruct H as (E & HE & H). specialize (IHn E D' H). rewrite S_INR, Rmult_plus_distr_r, Rmult_1_l, Rplus_comm, exp_plus, Rmult_assoc.
    apply Rle_trans with (exp share * mechanism p E f); [|apply Rmult_le_compat_l; auto; left; apply exp_pos].
    destruct HE as [-> |HE]; [|apply step_private; auto]. rewrite <- (Rmult_1_l (mechanism p E f)) at 1.
    apply Rmult_le_compat_r; [apply mechanism_pos|]. rewrite <- exp_0. apply exp_le, share_pos.
Qed.
End Step.
End Meaning.

(* The theorem.  `described` says what the certificate says of the program: its releases are of the numbers that are
   listed, with their noise, and its runs make no others than those of a path. *)
Theorem releases_private : forall c, check_releases c = true -> forall I, lawful I -> forall possible p, described c I possible p ->
  forall D D' f, steps_apart c possible (Pos.to_nat (groups c)) D D' -> bounded f ->
  mechanism c p D f <= exp (Q2R (rbound c)) * mechanism c p D' f.
Proof.
  intros c Hc I HI possible p Hp D D' f Hs Hf.
  assert (HS : forallb sample_ok (samples c) = true) by (pose proof Hc as H; unfold check_releases in H; rewrite !andb_true_iff in H; tauto).
  replace (Q2R (rbound c)) with (INR (Pos.to_nat (groups c)) * share c).
  - eapply steps_private; eauto.
  - unfold share. field. apply not_0_INR. lia.
Qed.

(* ---- there are such releases: noise, choices and reports are laws of what is released; the largest of numbers moves so ---- *)
Lemma noise_is_a_law : forall I ds xs, exists K, forall f, M K f = integ I ds (fun h => f (vadd xs h)).
Proof.
  intros I ds xs. unshelve eexists (OutputLaw (fun f => integ I ds (fun h => f (vadd xs h))) _ _ _ _); [| | | |reflexivity].
  - intros f g [B Hf] [B' Hg] H. apply (integ_mono I ds _ _ B B'); auto.
  - intros f g [B Hf] [B' Hg]. apply (integ_add I ds (fun h => f (vadd xs h)) (fun h => g (vadd xs h)) B B'); auto.
  - intros k f Hk [B Hf]. apply (integ_scale I ds (fun h => f (vadd xs h)) B k); auto.
  - exact (integ_const I ds 1 ltac:(lra)).
Qed.
Lemma choice_is_a_law : forall r xs, xs <> [] ->
  exists K, forall f, M K f = lsum (fun oe => snd oe * f [fst oe]) (chances r xs) / lsum snd (chances r xs).
Proof.
  intros r xs Hx. pose proof (chances_pos r xs 0 Hx) as P. fold (chances r xs) in P.
  assert (N : forall oe, In oe (chances r xs) -> 0 <= snd oe).
  { intros oe H. apply in_map_iff in H. destruct H as (? & <- & _). left. apply exp_pos. }
  unshelve eexists (OutputLaw (fun f => lsum (fun oe => snd oe * f [fst oe]) (chances r xs) / lsum snd (chances r xs)) _ _ _ _); [| | | |reflexivity].
  - intros f g _ _ H. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; auto|]. apply lsum_le. intros. apply Rmult_le_compat_l; auto.
  - intros f g _ _. unfold Rdiv. rewrite <- Rmult_plus_distr_r. apply f_equal2; auto. rewrite <- lsum_plus. apply lsum_ext. intros. ring.
  - intros k f _ _. unfold Rdiv. rewrite <- Rmult_assoc, lsum_scale. apply f_equal2; auto. apply lsum_ext. intros. ring.
  - transitivity (lsum snd (chances r xs) / lsum snd (chances r xs)); [|field; lra]. apply f_equal2; auto. apply lsum_ext. intros. ring.
Qed.
Lemma reports_are_a_law : forall p bits, 0 <= p <= 1 -> exists K, forall f, M K f = reported p bits f.
Proof.
  intros p bits Hp. unshelve eexists (OutputLaw (reported p bits) _ _ _ _); [| | | |reflexivity].
  - intros f g _ _. revert f g. induction bits; intros f g H; simpl; auto.
    apply Rplus_le_compat; (apply Rmult_le_compat_l; [lra|apply IHbits; auto]).
  - intros f g _ _. revert f g. induction bits; intros f g; simpl; auto. rewrite !IHbits. ring.
  - intros k f _ _. revert f. induction bits; intros f; simpl; auto. rewrite !IHbits. ring.
  - induction bits; simpl; auto. rewrite !IHbits. ring.
Qed.
(* Where units are single records, whether one meets conditions is a bit of it, and the number of those that do is a
   value whose only term adds 1. *)
Definition single (u : unit_of_privacy) : Prop := exists r, u = [(1, r)].
Definition bit (c : releases_certificate) (t : term) (u : unit_of_privacy) : bool :=
  match u with (_, r) :: _ => is_in (kind c r) t | [] => false end.
Lemma bits_are_a_value : forall c t, Q2R (tlow t) = 1 -> Q2R (thigh t) = 1 ->
  means c single (Plus t Constant) [fun D => lsum (fun u => if bit c t u then 1 else 0) D].
Proof.
  intros c t Hl Hh. exists (fun D => lsum (fun u => if bit c t u then 1 else 0) D), (fun D => lsum (fun u => if bit c t u then 1 else 0) D), (fun _ => 0).
  split; [auto|]. split; [|split; [exists 0, (fun _ => 0); auto|intros; ring]].
  intros A u B ((r & ->) & _). rewrite !lsum_app, Hl, Hh. unfold presence, bit. simpl. destruct (is_in (kind c r) t); lra.
Qed.
Fixpoint largest (xs : list R) : R := match xs with [] => 0 | [x] => x | x :: r => Rmax x (largest r) end.
Lemma largest_bends : forall n, n <> 0%nat -> bends Among largest n.
Proof.
  intros n Hn. split; auto. intros xs ys a b Hl H. assert (xs <> []) by (destruct xs; [simpl in Hl; subst; contradiction|discriminate]). clear n Hn Hl.
  induction H as [|x y xs ys Hxy H IH]; [contradiction|]. destruct H as [|x' y' xs ys Hxy' H]; [simpl; lra|].
  specialize (IH ltac:(discriminate)). change (a <= Rmax y (largest (y' :: ys)) - Rmax x (largest (x' :: xs)) <= b).
  revert IH. generalize (largest (y' :: ys)) (largest (x' :: xs)). intros u v IH.
  unfold Rmax. destruct (Rle_dec y u), (Rle_dec x v); lra.
Qed.
