(* The theorem of couplings: the two runs are a mixture of runs of which one answer moves as far as all may in sum. *)
From Coq Require Import Reals QArith Qreals List Lra Lia Bool ZArith.
From Dpaudit Require Import Law Tree Shifts Farkas Null Fold Fold_sound Fold_private Couplings_check.
Import ListNotations.
Open Scope R_scope.

(* ---- weighted sums of vectors ---- *)
Definition scale (w : R) (v : list R) : list R := map (fun x => w * x) v.
Fixpoint blend {A} (n : nat) (w : A -> R) (v : A -> list R) (l : list A) : list R :=
  match l with [] => repeat 0 n | a :: l' => vadd (scale (w a) (v a)) (blend n w v l') end.
Lemma scale_length : forall w v, length (scale w v) = length v.
Proof. intros. apply map_length. Qed.
Lemma blend_length : forall A n w (v : A -> list R) l, (forall a, In a l -> length (v a) = n) -> length (blend n w v l) = n.
Proof.
  induction l; simpl; intros H; [apply repeat_length|]. rewrite vadd_length; rewrite scale_length; auto. rewrite IHl; auto.
Qed.
Lemma dot_zero : forall q n, dot q (repeat 0 n) = 0.
Proof. induction q; destruct n; simpl; auto. rewrite IHq. ring. Qed.
Lemma dot_scaled : forall q w v, dot q (scale w v) = w * dot q v.
Proof. induction q; intros w v; simpl; [ring|]. destruct v; simpl; [ring|]. rewrite IHq. ring. Qed.
Lemma dot_blend : forall A q n w (v : A -> list R) l, (forall a, In a l -> length (v a) = n) ->
  dot q (blend n w v l) = lsum (fun a => w a * dot q (v a)) l.
Proof.
  induction l; simpl; intros H; [apply dot_zero|]. rewrite dot_vadd, dot_scaled, IHl; auto.
  rewrite scale_length, blend_length; auto.
Qed.
Lemma rate_blend : forall A e n m w (u v : A -> list R) l, (forall a, In a l -> length (u a) = n /\ length (v a) = m) ->
  rate e (blend n w u l) (blend m w v l) = lsum (fun a => w a * rate e (u a) (v a)) l.
Proof.
  intros. unfold rate. rewrite !dot_blend by (intros; apply H; auto). clear H. induction l; simpl; [ring|]. rewrite <- IHl. ring.
Qed.
Lemma blend_cons : forall A n w (x : A -> R) (v : A -> list R) l,
  blend (S n) w (fun a => x a :: v a) l = lsum (fun a => w a * x a) l :: blend n w v l.
Proof. induction l; simpl; auto. rewrite IHl. auto. Qed.
Lemma blend_ext : forall A n w w' (v v' : A -> list R) l, (forall a, In a l -> w a = w' a /\ v a = v' a) -> blend n w v l = blend n w' v' l.
Proof. induction l; simpl; intros H; auto. destruct (H a (or_introl eq_refl)) as [-> ->]. rewrite IHl; auto. Qed.
Lemma blend_map : forall A B n w (v : B -> list R) (h : A -> B) l, blend n w v (map h l) = blend n (fun a => w (h a)) (fun a => v (h a)) l.
Proof. induction l; simpl; auto. rewrite IHl. auto. Qed.
Lemma vadd_assoc : forall a b d, vadd (vadd a b) d = vadd a (vadd b d).
Proof. induction a; destruct b, d; simpl; auto. rewrite IHa. f_equal. ring. Qed.
Lemma vadd_zero : forall n v, length v = n -> vadd (repeat 0 n) v = v.
Proof. induction n; destruct v; simpl; intros H; try discriminate; auto. rewrite IHn by lia. f_equal. ring. Qed.
Lemma vadd_zero_r : forall n v, length v = n -> vadd v (repeat 0 n) = v.
Proof. induction n; destruct v; simpl; intros H; try discriminate; auto. rewrite IHn by lia. f_equal. ring. Qed.
Lemma blend_app : forall A n w (v : A -> list R) l m, (forall a, In a m -> length (v a) = n) ->
  blend n w v (l ++ m) = vadd (blend n w v l) (blend n w v m).
Proof.
  induction l; simpl; intros m H; [rewrite vadd_zero; auto; apply blend_length; auto|]. rewrite IHl, vadd_assoc; auto.
Qed.
Lemma scale_split : forall a b v, vadd (scale a v) (scale b v) = scale (a + b) v.
Proof. induction v; simpl; auto. rewrite IHv. f_equal. ring. Qed.
Lemma scale_one : forall v, scale 1 v = v.
Proof. induction v; simpl; auto. rewrite IHv. f_equal. ring. Qed.

(* ---- one leaf ---- *)
(* A part of the mixture: its weight, how far the runs are apart before, its shift, what it costs, and how far they are
   apart after. *)
Record part := Part { weight : R; before : list R; shifted : list R; costs : R; after : list R }.
Definition keeps_part ds cs (l : fleaf) (p : part) : Prop :=
  Forall2 allowed ds (shifted p) /\ cost ds (shifted p) <= costs p /\
  (forall e, In e (map lin_of cs) -> 0 <= rate e (before p) (shifted p)) /\
  (forall e, In e (equalities cs ++ map without (released l)) -> rate e (before p) (shifted p) = 0) /\
  match next l with None => True | Some _ => Forall2 (fun e x => rate e (before p) (shifted p) = x) (new l) (after p) end.

Lemma allowed_blend : forall ds ps, Forall (fun d => 0 < Q2R (db d)) ds -> Forall continuous ds ->
  (forall p, In p ps -> 0 <= weight p /\ Forall2 allowed ds (shifted p)) ->
  Forall2 allowed ds (blend (length ds) weight shifted ps) /\
  cost ds (blend (length ds) weight shifted ps) <= lsum (fun p => weight p * cost ds (shifted p)) ps.
Proof.
  intros ds ps Hp Hc H. induction ps as [|p ps IH]; simpl.
  - clear - Hc. induction Hc; simpl; [split; [constructor|lra]|]. destruct IHHc as [A C]. split.
    + constructor; auto. unfold allowed, continuous in *. destruct (dm x); auto; lra || contradiction.
    + unfold cost1. rewrite Rabs_R0. unfold Rdiv. rewrite Rmult_0_l. lra.
  - destruct IH as [A C]; [intros; apply H; right; auto|]. destruct (H p (or_introl eq_refl)) as [Hw Hs].
    revert A C Hs. generalize (lsum (fun p => weight p * cost ds (shifted p)) ps). intros z. 
    generalize (blend (length ds) weight shifted ps) (shifted p). clear - Hp Hc Hw. revert z. generalize dependent (weight p). intros w Hw.
    induction ds as [|d ds IHd]; intros z v u A C B; inversion A as [|? y ? l' Ay Al]; inversion B as [|? y0 ? l'0 By Bl]; subst; simpl in *; [split; [constructor|lra]|].
    inversion Hp as [|? ? Hp1 Hp2]; inversion Hc as [|? ? Hc1 Hc2]; subst.
    destruct (IHd Hp2 Hc2 (cost ds l') l' l'0 Al ltac:(lra) Bl) as [A2 C2]. split.
    + constructor; auto. unfold allowed, continuous in *. destruct (dm d); auto; try contradiction.
      * apply Rplus_le_le_0_compat; auto. apply Rmult_le_pos; auto.
      * apply Rplus_le_le_0_compat; auto. apply Rmult_le_pos; auto.
      * subst. ring.
    + assert (cost1 d (w * y0 + y) <= w * cost1 d y0 + cost1 d y).
      { unfold cost1, Rdiv. rewrite <- Rmult_assoc, <- Rmult_plus_distr_r. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; auto|].
        eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult, (Rabs_right w) by lra. lra. }
      lra.
Qed.

Section Leaf.
Variable I : draw -> law.
Variables (ds : list draw) (cs : list cond) (l : fleaf) (n m : nat) (ps : list part).
Hypothesis Hp : Forall (fun d => 0 < Q2R (db d)) ds.
Hypothesis Hw : Forall (lawful1 I) ds.
Hypothesis Hps : forall p, In p ps -> 0 < weight p /\ length (before p) = n /\ keeps_part ds cs l p /\
  (next l <> None -> length (after p) = m).
Hypothesis Hnew : next l <> None -> length (new l) = m.
Hypothesis Hmix : existsb discreteb ds = false \/ exists p, ps = [p] /\ weight p = 1.

Let dl := blend n weight before ps.
Let dv := blend (length ds) weight shifted ps.
Lemma shifted_length : forall p, In p ps -> length (shifted p) = length ds.
Proof. intros p Hin. destruct (Hps p Hin) as (_ & _ & (A & _) & _). apply Forall2_length in A. auto. Qed.
Lemma mixed_rate : forall e, rate e dl dv = lsum (fun p => weight p * rate e (before p) (shifted p)) ps.
Proof.
  intros. apply rate_blend. intros p Hin. split; [apply (Hps p Hin)|apply shifted_length; auto].
Qed.
Lemma mixed_allowed : Forall2 allowed ds dv /\ cost ds dv <= lsum (fun p => weight p * costs p) ps.
Proof.
  destruct Hmix as [C|(p & E & W)].
  - destruct (allowed_blend ds ps Hp (not_discrete _ C)) as [A B].
    { intros p Hin. destruct (Hps p Hin) as (P & _ & (K & _) & _). split; [lra|auto]. }
    split; auto. eapply Rle_trans; [exact B|]. apply lsum_le. intros p Hin. destruct (Hps p Hin) as (P & _ & (_ & K & _) & _).
    apply Rmult_le_compat_l; lra.
  - destruct (Hps p) as (_ & _ & (A & B & _) & _); [rewrite E; left; auto|].
    assert (D : dv = shifted p).
    { unfold dv. rewrite E. simpl. rewrite W, scale_one. apply vadd_zero_r. apply Forall2_length in A. auto. }
    rewrite D, E. simpl. rewrite W. split; auto. lra.
Qed.
Lemma mixed_keeps : forall env r, length env = n -> length r = length ds -> all_hold cs env r -> all_hold cs (vadd env dl) (vadd r dv).
Proof.
  intros env r L1 L2 H. apply Forall_forall. intros c Hc. unfold all_hold in H. rewrite Forall_forall in H. specialize (H c Hc).
  assert (Ldl : length dl = n) by (apply blend_length; intros p Hin; apply (Hps p Hin)).
  assert (Ldv : length dv = length ds) by (apply blend_length; intros; apply shifted_length; auto).
  assert (G : 0 <= rate (lin_of c) dl dv).
  { rewrite mixed_rate. assert (P : forall p, In p ps -> 0 <= weight p * rate (lin_of c) (before p) (shifted p)).
    { intros p Hin. destruct (Hps p Hin) as (P & _ & (_ & _ & K & _) & _). apply Rmult_le_pos; [lra|]. apply K. apply in_map. auto. }
    clear - P. induction ps; simpl; [lra|]. apply Rplus_le_le_0_compat; [apply P; left; auto|apply IHl; intros; apply P; right; auto]. }
  destruct c as [e|e|e]; simpl in *; rewrite ev_vadd by congruence; try lra.
  assert (Z : rate e dl dv = 0); [|lra]. rewrite mixed_rate.
  assert (P : forall p, In p ps -> weight p * rate e (before p) (shifted p) = 0).
  { intros p Hin. destruct (Hps p Hin) as (_ & _ & (_ & _ & _ & K & _) & _).
    specialize (K (without e)). unfold rate, without in K. simpl in K. unfold rate. rewrite K; [ring|].
    apply in_or_app. left. apply equalities_in. auto. }
  clear - P. induction ps; simpl; auto. rewrite (P a) by (left; auto). rewrite IHl by (intros; apply P; right; auto). ring.
Qed.
Lemma mixed_emit : forall env r, length env = n -> length r = length ds -> emit l (vadd env dl) (vadd r dv) = emit l env r.
Proof.
  intros env r L1 L2. unfold emit. f_equal. apply map_ext_in. intros e He.
  assert (Ldl : length dl = n) by (apply blend_length; intros p Hin; apply (Hps p Hin)).
  assert (Ldv : length dv = length ds) by (apply blend_length; intros; apply shifted_length; auto).
  rewrite ev_vadd by congruence. assert (Z : rate e dl dv = 0); [|lra]. rewrite mixed_rate.
  assert (P : forall p, In p ps -> weight p * rate e (before p) (shifted p) = 0).
  { intros p Hin. destruct (Hps p Hin) as (_ & _ & (_ & _ & _ & K & _) & _).
    specialize (K (without e)). unfold rate, without in K. simpl in K. unfold rate. rewrite K; [ring|].
    apply in_or_app. right. exact (in_map without _ e He). }
  clear - P. induction ps; simpl; auto. rewrite (P a) by (left; auto). rewrite IHl by (intros; apply P; right; auto). ring.
Qed.
Lemma mixed_fresh : next l <> None -> forall env r, length env = n -> length r = length ds ->
  fresh l (vadd env dl) (vadd r dv) = vadd (fresh l env r) (blend m weight after ps).
Proof.
  intros Hn env r L1 L2. unfold fresh.
  assert (Ldl : length dl = n) by (apply blend_length; intros p Hin; apply (Hps p Hin)).
  assert (Ldv : length dv = length ds) by (apply blend_length; intros; apply shifted_length; auto).
  assert (F : Forall2 (fun e x => rate e dl dv = x) (new l) (blend m weight after ps)).
  { assert (E : forall e, rate e dl dv = lsum (fun p => weight p * rate e (before p) (shifted p)) ps) by apply mixed_rate.
    assert (K : forall p, In p ps -> Forall2 (fun e x => rate e (before p) (shifted p) = x) (new l) (after p)).
    { intros p Hin. destruct (Hps p Hin) as (_ & _ & (_ & _ & _ & _ & K) & _). destruct (next l); [auto|contradiction]. }
    assert (X : Forall2 (fun e x => lsum (fun p => weight p * rate e (before p) (shifted p)) ps = x) (new l) (blend m weight after ps)).
    { specialize (Hnew Hn). clear - K Hnew. induction ps as [|p ps' IH]; simpl.
      - subst m. generalize (new l). induction l0; simpl; constructor; auto.
      - assert (X := IH (fun q Hq => K q (or_intror Hq))). specialize (K p (or_introl eq_refl)). clear IH Hnew. revert X K.
        generalize (after p), (blend m weight after ps'). generalize (new l). induction l0 as [|e es IHe]; intros a b X K; inversion X; inversion K; subst; simpl; constructor; auto. }
    clear - X E. induction X; constructor; auto. rewrite E. auto. }
  revert F. generalize (blend m weight after ps). generalize (new l). induction l0 as [|e es IHe]; intros x F; inversion F; subst; simpl; auto.
  f_equal; [rewrite ev_vadd by congruence; auto|apply IHe; auto].
Qed.
(* What follows costs v more at most. *)
Lemma mixed_leaf : forall env G G' B B' V v,
  (forall l r, 0 <= G l r <= B) -> (forall l r, 0 <= G' l r <= B') -> length env = n ->
  lsum (fun p => weight p * costs p) ps <= V - v ->
  (forall r, length r = length ds -> G l r <= exp v * G' l (vadd r dv)) ->
  term I env [] G (ds, cs, l) <= exp V * term I (vadd env dl) [] G' (ds, cs, l).
Proof.
  intros env G G' B B' V v HG HG' Le HV Hr. destruct mixed_allowed as [A C].
  apply (leaf_shift I _ ds cs l env (vadd env dl) G G' B B' V (cost ds dv) dv); auto.
  - apply lawful_shiftable; auto.
  - intros r Hs Ha. assert (Lr : length r = length ds) by (symmetry; eapply Forall2_length; eauto).
    split; [apply mixed_keeps; auto|]. eapply Rle_trans; [apply (Hr r Lr)|].
    apply Rmult_le_compat_r; [apply HG'|]. apply exp_le. lra.
Qed.
End Leaf.

Lemma lsum_along : forall A B (P : A -> B -> Prop) (g : A -> R) (h : B -> R) a b, Forall2 P a b -> (forall x y, P x y -> g x = h y) -> lsum g a = lsum h b.
Proof. induction 1; simpl; intros H1; auto. rewrite (H1 x y), IHForall2; auto. Qed.
Lemma blend_along : forall A B (P : A -> B -> Prop) n (w : A -> R) v (w' : B -> R) v' a b, Forall2 P a b ->
  (forall x y, P x y -> w x = w' y /\ v x = v' y) -> blend n w v a = blend n w' v' b.
Proof. induction 1; simpl; intros H1; auto. destruct (H1 x y H) as [-> ->]. rewrite IHForall2; auto. Qed.
Lemma choose : forall A B (P : A -> B -> Prop) l, (forall a, In a l -> exists b, P a b) -> exists m, Forall2 P l m.
Proof.
  induction l as [|a l IH]; intros H; [exists []; constructor|]. destruct (H a (or_introl eq_refl)) as [b Hb].
  destruct IH as [m Hm]; [intros; apply H; right; auto|]. exists (b :: m). constructor; auto.
Qed.
Lemma along_in : forall A B (P : A -> B -> Prop) l m b, Forall2 P l m -> In b m -> exists a, In a l /\ P a b.
Proof. induction 1; intros Hin; [contradiction|]. destruct Hin as [<-|Hin]; [exists x; simpl; auto|]. destruct (IHForall2 Hin) as (a & Ha & Hb). exists a. simpl. auto. Qed.
Section Sound.
Variable I : draw -> law.
Variable c : coupled_certificate.
Let F := cprogram c.
Hypothesis HL : forall t ds cs l, t = init F \/ In t (steps F) \/ In (Some t) (ends F) -> In (ds, cs, l) (leaves t) ->
  Forall (lawful1 I) ds.
Hypothesis Hok : check_couplings c = true.
Let k0 := IZR (group c).

(* ---- what the check says ---- *)
Local Notation place := (bool * nat)%type.   (* a coupling: of which case, and its number *)
Definition coup (x : place) : coupling := nth (snd x) (case_of_sign c (fst x)) (Coupling 0 true [] 0).
Definition valid (k : nat) (x : place) : Prop := (snd x < length (case_of_sign c (fst x)))%nat /\ at_state (coup x) = k.
Definition dist_of (x : place) : list R := map Q2R (apart_by (coup x)).
Definition calm : Prop := cintegers c && Z.eqb (group c) 1 = false.

Lemma check_parts :
  0 < k0 /\ 0 <= Q2R (cbound c) /\ noise_ok c (init F) = true /\ (forall k, noise_ok c (nth k (steps F) Nil) = true) /\
  (forall k t, nth k (ends F) None = Some t -> noise_ok c t = true) /\
  (forall up p, In p (leaves (init F)) -> init_linked c up p = true) /\
  (forall up k p, In p (leaves (nth k (steps F) Nil)) -> step_linked c up k p = true) /\
  (forall up k t p, nth k (ends F) None = Some t -> In p (leaves t) -> end_linked c up k p = true) /\
  (forall k x, valid k x -> length (dist_of x) = reals c /\ 0 <= Q2R (still (coup x))).
Proof.
  pose proof Hok as H. unfold check_couplings in H. cbv zeta in H. fold F in H. rewrite !andb_true_iff in H.
  destruct H as ((((((H1 & H2) & H3) & H4) & H5) & H6) & H7).
  apply negb_true_iff, Nat.eqb_neq in H1. apply Qle_bool_R in H2. rewrite RMicromega.Q2R_0 in H2.
  rewrite forallb_forall in H3, H5, H6, H7.
  assert (Up : forall up : bool, In up [false; true]) by (intros []; simpl; auto).
  split; [unfold k0, group; apply IZR_lt; lia|]. do 2 (split; auto). split; [|split; [|split; [|split; [|split]]]].
  - intros k. destruct (nth_in_or_default k (steps F) Nil) as [Hin| ->]; auto.
  - intros k t Ht. destruct (nth_in_or_default k (ends F) None) as [Hin|En]; [|rewrite Ht in En; discriminate].
    rewrite Ht in Hin. apply (H6 _ Hin).
  - intros up p Hp. specialize (H7 up (Up up)). apply andb_true_iff in H7. destruct H7 as [H7 _]. rewrite forallb_forall in H7. auto.
  - intros up k p Hp. specialize (H7 up (Up up)). apply andb_true_iff in H7. destruct H7 as [_ H7]. rewrite forallb_forall in H7.
    destruct (le_lt_dec (length (steps F)) k) as [Hk|Hk]; [rewrite nth_overflow in Hp by auto; contradiction|].
    assert (Hs : In k (seq 0 (Nat.max (length (steps F)) (length (ends F))))) by (apply in_seq; lia).
    specialize (H7 k Hs). apply andb_true_iff in H7. destruct H7 as [H7 _]. rewrite forallb_forall in H7. auto.
  - intros up k t p Ht Hp. specialize (H7 up (Up up)). apply andb_true_iff in H7. destruct H7 as [_ H7]. rewrite forallb_forall in H7.
    destruct (le_lt_dec (length (ends F)) k) as [Hk|Hk]; [rewrite nth_overflow in Ht by auto; discriminate|].
    assert (Hs : In k (seq 0 (Nat.max (length (steps F)) (length (ends F))))) by (apply in_seq; lia).
    specialize (H7 k Hs). apply andb_true_iff in H7. destruct H7 as [_ H7]. rewrite Ht, forallb_forall in H7. auto.
  - intros k x [Hx _]. assert (Hin : In (coup x) (minus c ++ plus c)).
    { apply in_or_app. destruct x as [[] i]; [right|left]; apply nth_In; exact Hx. }
    specialize (H3 _ Hin). apply andb_true_iff in H3. destruct H3 as [A B]. apply Nat.eqb_eq in A. apply Qle_bool_R in B.
    rewrite RMicromega.Q2R_0 in B. unfold dist_of. rewrite map_length. auto.
Qed.
Lemma noise_parts : forall t, noise_ok c t = true -> wf t 0 /\ forall ds cs l, In (ds, cs, l) (leaves t) ->
  Forall (fun d => 0 < Q2R (db d)) ds /\ (calm -> existsb discreteb ds = false).
Proof.
  intros t H. unfold noise_ok in H. apply andb_true_iff in H. destruct H as [Hw H]. rewrite forallb_forall in H.
  split; [apply wfb_wf; auto|]. intros ds cs l Hin. split; [eapply wfb_pos; eauto|]. intros C. specialize (H _ Hin). simpl in H.
  unfold calm in C. rewrite C, orb_false_r in H. apply negb_true_iff in H. auto.
Qed.
Lemma is_numbered : forall k x, valid k x -> In (snd x, coup x) (numbered c (fst x)).
Proof.
  intros k x [Hx _]. unfold numbered, coup. revert Hx. generalize (case_of_sign c (fst x)). generalize (snd x). intros i gs Hi.
  assert (G : forall gs a i, (i < length gs)%nat -> In ((a + i)%nat, nth i gs (Coupling 0 true [] 0)) (combine (seq a (length gs)) gs)).
  { clear. induction gs as [|g gs IH]; intros a i Hi; simpl in *; [lia|]. destruct i.
    - left. f_equal. lia.
    - right. rewrite <- Nat.add_succ_comm. apply IH. lia. }
  apply (G gs 0%nat i Hi).
Qed.

(* ---- a link is a part, and where it leads ---- *)
Definition leads (l : fleaf) (up moved : bool) (v : R) (p : part) (y : place) : Prop :=
  match next l with
  | None => costs p = v /\ y = (up, O)
  | Some k => fst y = up /\ valid k y /\ has_moved (coup y) = moved /\ costs p = v - Q2R (still (coup y)) /\ after p = dist_of y /\
              length (new l) = reals c
  end.
Lemma link_part : forall up ds cs l moved v dl i d w, Forall (fun x => 0 < Q2R (db x)) ds ->
  linked c up ds cs l moved v dl i d = true ->
  exists p y, weight p = w /\ before p = map Q2R dl /\ keeps_part ds cs l p /\ leads l up moved (Q2R v) p y.
Proof.
  intros up ds cs l moved v dl i d w Hp H. unfold linked in H. apply existsb_exists in H. destruct H as (e & _ & H).
  apply andb_true_iff in H. destruct H as [_ H]. unfold link_ok in H. unfold leads, keeps_part.
  assert (Zero : forall es b s, Forall (fun e => ev e b s = 0) es -> forall es', (forall e, In e es' -> In (without e) es) ->
                   forall e, In e es' -> rate e b s = 0).
  { intros es b s Ha es' Hi e0 He. rewrite Forall_forall in Ha. specialize (Ha _ (Hi e0 He)). unfold ev, without, rate in *. simpl in *.
    rewrite RMicromega.Q2R_0 in Ha. lra. }
  assert (Eqs : forall more e0, In e0 (equalities cs ++ map without (released l)) -> In (without e0) (equalities cs ++ map without (released l) ++ more)).
  { intros more e0 He. apply in_app_iff in He. destruct He as [He|He].
    - apply in_or_app. left. unfold equalities in *. apply in_flat_map in He. destruct He as (x & Hx & He). apply in_flat_map. exists x. split; auto.
      destruct x; try contradiction. destruct He as [<-|[]]. left. reflexivity.
    - apply in_or_app. right. apply in_or_app. left. apply in_map_iff in He. destruct He as (x & <- & Hx). apply in_map_iff. exists x. split; auto. }
  destruct (next l) as [k|] eqn:Nx; destruct (link_to e) as [j|]; try discriminate.
  - destruct (nth_error (case_of_sign c up) j) as [g|] eqn:Ng; [|discriminate]. rewrite !andb_true_iff in H.
    destruct H as (((H1 & H2) & H3) & H4). apply Nat.eqb_eq in H1, H3. apply eqb_prop in H2.
    destruct (keepsQ_sound _ _ _ _ _ _ Hp H4) as (A & C & R1 & E1). rewrite Q2R_minus in C.
    assert (Gj : coup (up, j) = g) by (unfold coup; simpl; apply nth_error_nth; auto).
    assert (Vj : valid k (up, j)). { split; [simpl; apply nth_error_Some; congruence|rewrite Gj; auto]. }
    exists (Part w (map Q2R dl) (map Q2R (link_shift e)) (Q2R v - Q2R (still g)) (dist_of (up, j))), (up, j). cbn [weight before shifted costs after].
    split; auto. split; auto. split; [|rewrite Gj; auto 7]. split; auto. split; auto. split; [|split].
    + intros e0 He. rewrite Forall_forall in R1. auto.
    + apply (Zero _ _ _ E1). intros e0 He. unfold kept. rewrite Nx. apply Eqs. auto.
    + unfold kept in E1. rewrite Nx in E1. apply Forall_app in E1. destruct E1 as [_ E1]. apply Forall_app in E1. destruct E1 as [_ E1].
      destruct check_parts as (_ & _ & _ & _ & _ & _ & _ & _ & Hd). destruct (Hd k (up, j) Vj) as [Ld _].
      unfold dist_of in *. rewrite Gj in *. rewrite map_length in Ld. rewrite <- Ld in H3. clear - E1 H3. revert H3 E1. generalize (new l), (apart_by g).
      induction l0 as [|x es IH]; intros [|a ds] L E; simpl in *; try discriminate; constructor.
      * inversion E; subst. unfold ev in H1. cbn [lc le lh] in H1. unfold rate in *. cbn [le lh] in H1. rewrite Q2R_opp in H1. lra.
      * inversion E; subst. apply IH; auto.
  - destruct (keepsQ_sound _ _ _ _ _ _ Hp H) as (A & C & R1 & E1).
    exists (Part w (map Q2R dl) (map Q2R (link_shift e)) (Q2R v) []), (up, O). cbn [weight before shifted costs after].
    split; auto. split; auto. split; [|auto]. split; auto. split; auto. split; [|split; [|auto]].
    + intros e0 He. rewrite Forall_forall in R1. auto.
    + apply (Zero _ _ _ E1). intros e0 He. specialize (Eqs [] e0 He). rewrite app_nil_r in Eqs. auto.
Qed.

(* ---- mixtures of couplings ---- *)
Local Notation mixture := (list (R * place)).
Definition distance (W : mixture) : list R := blend (reals c) fst (fun x => dist_of (snd x)) W.
Definition rest_of (W : mixture) : R := lsum (fun x => fst x * Q2R (still (coup (snd x)))) W.
Definition loose (up : bool) (W : mixture) : R :=
  lsum (fun x => if Bool.eqb (fst (snd x)) up && negb (has_moved (coup (snd x))) then fst x else 0) W.
Definition chosen (up : bool) (a : R * R) : R := if up then fst a else snd a.
Definition delta (a : R * R) : R := k0 * (fst a - snd a).
Definition zero_one (x : R) := x = 0 \/ x = 1.
Definition pure (W : mixture) (fut : list (R * R)) : Prop :=
  (exists x, W = [(1, x)]) /\ Forall (fun a => zero_one (fst a) /\ zero_one (snd a)) fut.
(* What is still to move is what has not moved. *)
Definition ready (k : nat) (W : mixture) (fut : list (R * R)) : Prop :=
  (forall x, In x W -> 0 < fst x /\ valid k (snd x)) /\ (forall a up, In a fut -> 0 <= chosen up a) /\
  (forall up, lsum (chosen up) fut = loose up W) /\ (calm \/ pure W fut) /\ lsum fst W = 1.

Section Step.
Variables (k : nat) (W : mixture) (a : R * R) (fut : list (R * R)).
Hypothesis HR : ready k W (a :: fut).
Definition moves_on (up : bool) : R := if Req_EM_T (loose up W) 0 then 0 else chosen up a / loose up W.
Lemma loose_pos : forall up V, (forall x, In x V -> 0 < fst x) -> 0 <= loose up V.
Proof. intros up V H. apply lsum_pos. intros x Hx. specialize (H x Hx). cbv beta.
  destruct (Bool.eqb (fst (snd x)) up && negb (has_moved (coup (snd x)))); lra. Qed.
Lemma moves_on_is : forall up, 0 <= moves_on up <= 1 /\ loose up W * moves_on up = chosen up a.
Proof.
  intros up. destruct HR as (HW & Hf & Hs & _). specialize (Hs up). simpl in Hs.
  pose proof (Hf a up (or_introl eq_refl)) as Ha.
  assert (Hr : 0 <= lsum (chosen up) fut) by (apply lsum_pos; intros; apply Hf; right; auto).
  assert (Hl : 0 <= loose up W) by (apply loose_pos; intros x Hx; apply (HW x Hx)).
  unfold moves_on. destruct (Req_EM_T (loose up W) 0) as [E|N]; [split; lra|].
  assert (P : 0 < loose up W) by lra. split; [split|field; auto].
  - apply Rmult_le_pos; [auto|left; apply Rinv_0_lt_compat; auto].
  - apply Rmult_le_reg_r with (loose up W); auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by auto. lra.
Qed.

(* Each coupling that has not moved is one that stays and one that moves here. *)
Record piece := Piece { pw : R; px : place; goes : bool }.
Definition pieces_of (x : R * place) : list piece :=
  if has_moved (coup (snd x)) then [Piece (fst x) (snd x) false]
  else let t := moves_on (fst (snd x)) in
    (if Req_EM_T t 1 then [] else [Piece (fst x * (1 - t)) (snd x) false]) ++
    (if Req_EM_T t 0 then [] else [Piece (fst x * t) (snd x) true]).
Definition pieces := flat_map pieces_of W.
Definition sign (up : bool) : R := if up then k0 else - k0.
Definition before_of (q : piece) : list R := (if goes q then sign (fst (px q)) else 0) :: dist_of (px q).
Definition moved_of (q : piece) : bool := goes q || has_moved (coup (px q)).

Lemma pieces_in : forall q, In q pieces -> 0 < pw q /\ valid k (px q) /\ (goes q = true -> has_moved (coup (px q)) = false).
Proof.
  intros q H. unfold pieces in H. apply in_flat_map in H. destruct H as (x & Hx & H). destruct HR as (HW & _). destruct (HW x Hx) as [P V].
  destruct (moves_on_is (fst (snd x))) as [[T0 T1] _]. unfold pieces_of in H. destruct (has_moved (coup (snd x))) eqn:M.
  - destruct H as [<-|[]]. simpl. repeat split; try apply V; auto. discriminate.
  - cbv zeta in H. apply in_app_iff in H. destruct H as [H|H]; destruct (Req_EM_T _ _); try contradiction; destruct H as [<-|[]]; simpl;
      (split; [apply Rmult_lt_0_compat; lra|split; [apply V|auto]]); discriminate.
Qed.
(* What hangs on the coupling alone. *)
Lemma pieces_sum : forall g : place -> R, lsum (fun q => pw q * g (px q)) pieces = lsum (fun x => fst x * g (snd x)) W.
Proof.
  intros g. unfold pieces. generalize W. intros V. induction V as [|x V IH]; [reflexivity|]. cbn [flat_map lsum].
  rewrite lsum_app, IH. f_equal. unfold pieces_of. destruct (has_moved (coup (snd x))); [simpl; ring|]. cbv zeta. rewrite lsum_app.
  destruct (Req_EM_T _ 1) as [E|E], (Req_EM_T _ 0) as [E0|E0]; simpl; rewrite ?E, ?E0; try lra; ring.
Qed.
Lemma pieces_blend : forall n (v : place -> list R), (forall x, In x W -> length (v (snd x)) = n) ->
  blend n pw (fun q => v (px q)) pieces = blend n fst (fun x => v (snd x)) W.
Proof.
  intros n v. unfold pieces. generalize W. intros V. induction V as [|x V IH]; intros H; [reflexivity|]. cbn [flat_map blend].
  assert (G : forall V', (forall x, In x V' -> length (v (snd x)) = n) -> forall q, In q (flat_map pieces_of V') -> length (v (px q)) = n).
  { intros V' HV q Hq. apply in_flat_map in Hq. destruct Hq as (y & Hy & Hq). specialize (HV y Hy). unfold pieces_of in Hq.
    destruct (has_moved (coup (snd y))); [destruct Hq as [<-|[]]; exact HV|]. cbv zeta in Hq. apply in_app_iff in Hq.
    destruct Hq as [Hq|Hq]; destruct (Req_EM_T _ _); try contradiction; destruct Hq as [<-|[]]; exact HV. }
  rewrite blend_app by (intros q Hq; apply (G V); [intros; apply H; right; auto|auto]).
  rewrite IH by (intros; apply H; right; auto). f_equal.
  specialize (H x (or_introl eq_refl)). unfold pieces_of. destruct (has_moved (coup (snd x))); [simpl; apply vadd_zero_r; rewrite scale_length; auto|].
  cbv zeta. assert (Z : forall w, w = 0 -> scale w (v (snd x)) = repeat 0 n).
  { intros w ->. rewrite <- H. clear. induction (v (snd x)); simpl; auto. rewrite IHl. f_equal. ring. }
  destruct (Req_EM_T _ 1) as [E|E], (Req_EM_T _ 0) as [E0|E0]; simpl; rewrite ?E, ?E0; try lra;
    rewrite ?vadd_zero_r by (rewrite ?vadd_length; rewrite ?scale_length; auto).
  - f_equal. ring.
  - f_equal. ring.
  - rewrite scale_split. f_equal. ring.
Qed.
Lemma pieces_move : lsum (fun q => pw q * (if goes q then sign (fst (px q)) else 0)) pieces = delta a.
Proof.
  assert (E : lsum (fun q => pw q * (if goes q then sign (fst (px q)) else 0)) pieces =
              k0 * (loose true W * moves_on true) - k0 * (loose false W * moves_on false)).
  { assert (G : forall V, lsum (fun q => pw q * (if goes q then sign (fst (px q)) else 0)) (flat_map pieces_of V) =
      k0 * (loose true V * moves_on true) - k0 * (loose false V * moves_on false)).
    { unfold loose. induction V as [|x V IH]; cbn [flat_map lsum]; [ring|]. rewrite lsum_app, IH. clear IH. unfold pieces_of. destruct (has_moved (coup (snd x))).
      - rewrite !andb_false_r. simpl. ring.
      - cbv zeta. rewrite !andb_true_r, lsum_app. unfold sign. destruct (fst (snd x)) eqn:S; cbn [Bool.eqb];
          destruct (Req_EM_T _ 1) as [E|E], (Req_EM_T _ 0) as [E0|E0]; simpl; rewrite ?S, ?E, ?E0; try lra; ring. }
    apply G. }
  rewrite E. rewrite (proj2 (moves_on_is true)), (proj2 (moves_on_is false)). unfold delta, chosen. ring.
Qed.
Lemma pieces_loose : forall up, lsum (fun q => if Bool.eqb (fst (px q)) up && negb (moved_of q) then pw q else 0) pieces = lsum (chosen up) fut.
Proof.
  intros up.
  assert (G : forall V, lsum (fun q => if Bool.eqb (fst (px q)) up && negb (moved_of q) then pw q else 0) (flat_map pieces_of V) =
    lsum (fun x => if Bool.eqb (fst (snd x)) up && negb (has_moved (coup (snd x))) then fst x else 0) V * (1 - moves_on up)).
  { unfold moved_of. induction V as [|x V IH]; simpl; [ring|]. rewrite lsum_app, IH. unfold pieces_of. destruct (has_moved (coup (snd x))) eqn:M.
    - simpl. rewrite M, !andb_false_r. ring.
    - cbv zeta. rewrite lsum_app. destruct (Bool.eqb (fst (snd x)) up) eqn:S.
      + apply eqb_prop in S. rewrite S. destruct (Req_EM_T _ 1) as [E|E], (Req_EM_T _ 0) as [E0|E0]; simpl; rewrite ?S, ?M, ?eqb_reflx, ?E, ?E0; simpl; try lra; ring.
      + destruct (Req_EM_T _ 1) as [E|E], (Req_EM_T _ 0) as [E0|E0]; simpl; rewrite ?S; simpl; ring. }
  unfold pieces. rewrite G. fold (loose up W). destruct HR as (_ & _ & Hs & _ & _). specialize (Hs up). simpl in Hs.
  pose proof (proj2 (moves_on_is up)). lra.
Qed.
Lemma pieces_pure : pure W (a :: fut) -> exists q, pieces = [q] /\ pw q = 1.
Proof.
  intros [(x & E) Hz]. inversion Hz as [|? ? [Z1 Z2] _]; subst. unfold pieces. rewrite E. simpl. rewrite app_nil_r. unfold pieces_of. simpl.
  destruct (has_moved (coup x)) eqn:M; [eexists; split; [reflexivity|auto]|].
  assert (L : loose (fst x) W = 1) by (rewrite E; unfold loose; simpl; rewrite eqb_reflx, M; simpl; ring).
  pose proof (proj2 (moves_on_is (fst x))) as T. rewrite L, Rmult_1_l in T.
  assert (Zc : zero_one (moves_on (fst x))) by (rewrite T; unfold chosen; destruct (fst x); auto).
  destruct Zc as [Z|Z]; rewrite Z; destruct (Req_EM_T _ 1), (Req_EM_T _ 0); try lra; simpl; eexists; (split; [reflexivity|simpl; ring]).
Qed.

(* ---- a step ---- *)
Lemma pieces_one : lsum pw pieces = 1.
Proof.
  destruct HR as (_ & _ & _ & _ & H1). rewrite <- H1. pose proof (pieces_sum (fun _ => 1)) as S.
  transitivity (lsum (fun q => pw q * 1) pieces); [apply lsum_ext; intros; ring|]. rewrite S. apply lsum_ext. intros; ring.
Qed.
Lemma step_parts : forall ds cs l, In (ds, cs, l) (leaves (nth k (steps F) Nil)) -> never_ok (ds, cs, l) = false ->
  exists ps,
    (forall p, In p ps -> 0 < weight p /\ length (before p) = S (reals c) /\ keeps_part ds cs l p /\
       (next l <> None -> length (after p) = reals c)) /\
    blend (S (reals c)) weight before ps = delta a :: distance W /\
    (existsb discreteb ds = false \/ exists p, ps = [p] /\ weight p = 1) /\
    match next l with
    | None => lsum (fun p => weight p * costs p) ps = rest_of W
    | Some k' => length (new l) = reals c /\ exists W', ready k' W' fut /\ blend (reals c) weight after ps = distance W' /\
        lsum (fun p => weight p * costs p) ps = rest_of W - rest_of W'
    end.
Proof.
  intros ds cs l Hin Hnv. destruct check_parts as (_ & _ & _ & Hns & _ & _ & Hst & _ & Hd).
  destruct (noise_parts _ (Hns k)) as [_ Hn]. destruct (Hn _ _ _ Hin) as [Hp Hcalm].
  set (leads_on := fun (q : piece) (z : part * place) => weight (fst z) = pw q /\ before (fst z) = before_of q /\ keeps_part ds cs l (fst z) /\
    leads l (fst (px q)) (moved_of q) (Q2R (still (coup (px q)))) (fst z) (snd z)).
  assert (Q0 : Q2R 0 = 0) by apply RMicromega.Q2R_0.
  assert (Qf : forall up, Q2R (far c up) = sign up).
  { intros up. unfold far, sign, k0. rewrite Q2R_inject_Z. destruct up; auto. rewrite opp_IZR. auto. }
  assert (Hex : forall q, In q pieces -> exists z, leads_on q z).
  { intros q Hq. destruct (pieces_in q Hq) as (Pw & V & Go). specialize (Hst (fst (px q)) k _ Hin). unfold step_linked in Hst.
    apply orb_true_iff in Hst. destruct Hst as [Hst|Hst]; [congruence|]. rewrite forallb_forall in Hst. specialize (Hst _ (is_numbered k _ V)).
    cbv zeta in Hst. cbn [fst snd] in Hst. destruct V as [_ Va]. rewrite Va, Nat.eqb_refl in Hst. cbn [negb orb] in Hst.
    apply andb_true_iff in Hst. destruct Hst as [Hs0 Hs1].
    unfold leads_on, before_of, moved_of. destruct (goes q) eqn:Gq.
    - rewrite (Go eq_refl) in *. cbn [orb] in *. destruct (link_part _ _ _ _ _ _ _ _ _ (pw q) Hp Hs1) as (p & y & E1 & E2 & E3 & E4).
      exists (p, y). cbn [fst snd]. repeat split; try apply E3; auto. rewrite E2. cbn [map]. rewrite Qf. auto.
    - cbn [orb]. destruct (link_part _ _ _ _ _ _ _ _ _ (pw q) Hp Hs0) as (p & y & E1 & E2 & E3 & E4).
      exists (p, y). cbn [fst snd]. repeat split; try apply E3; auto. rewrite E2. cbn [map]. rewrite Q0. auto. }
  destruct (choose _ _ leads_on pieces Hex) as [zs Hz]. exists (map fst zs).
  assert (Hlen : forall x, In x W -> length (dist_of (snd x)) = reals c).
  { intros x Hx. destruct HR as (HW & _). destruct (HW x Hx) as [_ V]. apply (Hd k _ V). }
  split; [|split; [|split]].
  - intros p Hi. apply in_map_iff in Hi. destruct Hi as (z & <- & Hi). destruct (along_in _ _ _ _ _ _ Hz Hi) as (q & Hq & (E1 & E2 & E3 & E4)).
    destruct (pieces_in q Hq) as (Pw & V & _). rewrite E1, E2. split; auto. split; [unfold before_of; simpl; f_equal; apply (Hd k _ V)|].
    split; auto. intros Nx. unfold leads in E4. destruct (next l) as [k'|]; [|contradiction]. destruct E4 as (_ & V' & _ & _ & -> & _). apply (Hd k' _ V').
  - rewrite blend_map. rewrite <- (blend_along _ _ leads_on (S (reals c)) pw before_of (fun z => weight (fst z)) (fun z => before (fst z)) _ _ Hz).
    + unfold before_of. rewrite blend_cons, pieces_move. f_equal. apply pieces_blend. auto.
    + intros q z (E1 & E2 & _). rewrite E1, E2. auto.
  - destruct HR as (_ & _ & _ & [C|P] & _); [left; auto|right]. destruct (pieces_pure P) as (q & E & Eq). rewrite E in Hz. inversion Hz as [|? z ? ? Hqz Hnil]; subst.
    inversion Hnil; subst. exists (fst z). split; auto. destruct Hqz as (E1 & _). rewrite E1. auto.
  - assert (Hc : forall g : piece -> R, (forall q z, In q pieces -> leads_on q z -> costs (fst z) = g q) ->
      lsum (fun p => weight p * costs p) (map fst zs) = lsum (fun q => pw q * g q) pieces).
    { intros g Hg. rewrite lsum_map.
      assert (G : forall qs, Forall2 leads_on qs zs -> (forall q, In q qs -> In q pieces) ->
        lsum (fun z => weight (fst z) * costs (fst z)) zs = lsum (fun q => pw q * g q) qs).
      { clear Hz. induction zs as [|z zs' IH]; intros qs H2 Hi; inversion H2 as [|q ? qs' ? Hqz Hqs]; subst; auto. cbn [lsum].
        rewrite (IH qs' Hqs) by (intros; apply Hi; right; auto). rewrite (Hg q z) by (auto; apply Hi; left; auto). destruct Hqz as (-> & _). auto. }
      apply G; auto. }
    destruct (next l) as [k'|] eqn:Nx.
    + assert (Lead : forall q z, leads_on q z -> fst (snd z) = fst (px q) /\ valid k' (snd z) /\ has_moved (coup (snd z)) = moved_of q /\
        costs (fst z) = Q2R (still (coup (px q))) - Q2R (still (coup (snd z))) /\ after (fst z) = dist_of (snd z) /\ length (new l) = reals c).
      { intros q z (_ & _ & _ & E4). unfold leads in E4. rewrite Nx in E4. auto. }
      assert (Hne : exists q z, In q pieces /\ leads_on q z).
      { pose proof pieces_one as O. destruct pieces as [|q qs]; [simpl in O; lra|]. inversion Hz as [|? z ? ? Hqz ?]; subst. exists q, z. simpl. auto. }
      destruct Hne as (q0 & z0 & _ & L0). split; [apply (Lead _ _ L0)|].
      exists (map (fun z => (weight (fst z), snd z)) zs). split; [|split].
      * split; [|split; [|split; [|split]]].
        -- intros x Hx. apply in_map_iff in Hx. destruct Hx as (z & <- & Hi). destruct (along_in _ _ _ _ _ _ Hz Hi) as (q & Hq & L).
           cbn [fst snd]. split; [destruct L as (-> & _); apply (pieces_in q Hq)|apply (Lead _ _ L)].
        -- intros b up Hb. destruct HR as (_ & Hf & _). apply Hf. right. auto.
        -- intros up. rewrite <- (pieces_loose up). unfold loose. rewrite lsum_map.
           apply (lsum_along _ _ leads_on _ _ _ _ Hz). intros q z L. destruct (Lead _ _ L) as (A1 & _ & A3 & _). destruct L as (E1 & _).
           cbn [fst snd]. rewrite A1, A3, E1. auto.
        -- destruct HR as (_ & _ & _ & [C|P] & _); [left; auto|right]. destruct (pieces_pure P) as (q & E & Eq). rewrite E in Hz.
           inversion Hz as [|? z ? ? Hqz Hnil]; subst. inversion Hnil; subst. destruct P as [_ P]. inversion P; subst. split; auto.
           exists (snd z). simpl. destruct Hqz as (-> & _). rewrite Eq. auto.
        -- rewrite lsum_map. cbn [fst]. rewrite <- pieces_one. symmetry. apply (lsum_along _ _ leads_on _ _ _ _ Hz). intros q z (E1 & _). auto.
      * unfold distance. rewrite !blend_map. apply blend_ext. intros z Hi. destruct (along_in _ _ _ _ _ _ Hz Hi) as (q & _ & L).
        cbn [fst snd]. split; auto. apply (Lead _ _ L).
      * unfold rest_of. rewrite !lsum_map. cbn [fst snd]. rewrite <- (pieces_sum (fun x => Q2R (still (coup x)))).
        assert (G : forall qs zs', Forall2 leads_on qs zs' -> lsum (fun z => weight (fst z) * costs (fst z)) zs' =
          lsum (fun q => pw q * Q2R (still (coup (px q)))) qs - lsum (fun z => weight (fst z) * Q2R (still (coup (snd z)))) zs').
        { induction 1 as [|q z qs zs' L _ IH]; simpl; [ring|]. rewrite IH. destruct (Lead _ _ L) as (_ & _ & _ & -> & _). destruct L as (-> & _). ring. }
        apply G. auto.
    + rewrite (Hc (fun q => Q2R (still (coup (px q))))).
      * apply (pieces_sum (fun x => Q2R (still (coup x)))).
      * intros q z _ (_ & _ & _ & E4). unfold leads in E4. rewrite Nx in E4. apply E4.
Qed.
End Step.

(* ---- an end: all that moves has moved ---- *)
Lemma end_parts : forall k W t ds cs l, ready k W [] -> nth k (ends F) None = Some t -> In (ds, cs, l) (leaves t) ->
  never_ok (ds, cs, l) = false ->
  next l = None /\ exists ps,
    (forall p, In p ps -> 0 < weight p /\ length (before p) = reals c /\ keeps_part ds cs l p) /\
    blend (reals c) weight before ps = distance W /\
    (existsb discreteb ds = false \/ exists p, ps = [p] /\ weight p = 1) /\
    lsum (fun p => weight p * costs p) ps = rest_of W.
Proof.
  intros k W t ds cs l HR Ht Hin Hnv. destruct check_parts as (_ & _ & _ & _ & Hns & _ & _ & Hen & Hd).
  destruct (noise_parts _ (Hns k t Ht)) as [_ Hn]. destruct (Hn _ _ _ Hin) as [Hp Hcalm].
  pose proof HR as (HW & _ & Hloose & Hmix & H1).
  assert (Hall : forall up, next l = None /\ forall x, In x W -> fst (snd x) = up -> has_moved (coup (snd x)) = true /\
            linked c up ds cs l true (still (coup (snd x))) (apart_by (coup (snd x))) (Some (snd (snd x))) 0 = true).
  { intros up. specialize (Hen up k t _ Ht Hin). unfold end_linked in Hen. apply orb_true_iff in Hen. destruct Hen as [Hen|Hen]; [congruence|].
    apply andb_true_iff in Hen. destruct Hen as [Hnx Hen]. split; [destruct (next l); [discriminate|auto]|].
    intros x Hx Hup. destruct (HW x Hx) as [Pw V].
    assert (M : has_moved (coup (snd x)) = true).
    { destruct (has_moved (coup (snd x))) eqn:M; auto. exfalso. specialize (Hloose up). simpl in Hloose.
      assert (S : forall Z : mixture, (forall z, In z Z -> 0 < fst z) -> In x Z -> 0 < loose up Z).
      { unfold loose. induction Z as [|z Z IH]; intros HZ Hi; [contradiction|]. cbn [lsum].
        assert (Z0 : 0 <= loose up Z) by (apply loose_pos; intros; apply HZ; right; auto). unfold loose in Z0.
        pose proof (HZ z (or_introl eq_refl)) as Pz. destruct Hi as [->|Hi].
        - rewrite Hup, M, eqb_reflx. simpl. lra.
        - specialize (IH (fun z0 H0 => HZ z0 (or_intror H0)) Hi). destruct (Bool.eqb (fst (snd z)) up && negb (has_moved (coup (snd z)))); lra. }
      specialize (S W (fun z Hz => proj1 (HW z Hz)) Hx). lra. }
    split; auto. rewrite forallb_forall in Hen. rewrite <- Hup in Hen. specialize (Hen _ (is_numbered k _ V)). cbv zeta in Hen. cbn [fst snd] in Hen.
    destruct V as [_ Va]. rewrite Va, Nat.eqb_refl, M in Hen. rewrite Hup in Hen. auto. }
  split; [apply (Hall true)|]. destruct (Hall true) as [Nx _].
  set (leads_on := fun (x : R * place) (p : part) => weight p = fst x /\ before p = dist_of (snd x) /\ keeps_part ds cs l p /\
    costs p = Q2R (still (coup (snd x)))).
  assert (Hex : forall x, In x W -> exists p, leads_on x p).
  { intros x Hx. destruct (Hall (fst (snd x))) as [_ H]. destruct (H x Hx eq_refl) as [_ L].
    destruct (link_part _ _ _ _ _ _ _ _ _ (fst x) Hp L) as (p & y & E1 & E2 & E3 & E4). unfold leads in E4. rewrite Nx in E4.
    exists p. repeat split; auto; try apply E3. apply E4. }
  destruct (choose _ _ leads_on W Hex) as [ps Hz]. exists ps. split; [|split; [|split]].
  - intros p Hi. destruct (along_in _ _ _ _ _ _ Hz Hi) as (x & Hx & (E1 & E2 & E3 & _)). destruct (HW x Hx) as [Pw V].
    rewrite E1, E2. split; auto. split; auto. apply (Hd k _ V).
  - unfold distance. symmetry. apply (blend_along _ _ leads_on _ _ _ _ _ _ _ Hz). intros x p (E1 & E2 & _). auto.
  - destruct Hmix as [C|[(x & E) _]]; [left; auto|right]. rewrite E in Hz. inversion Hz as [|? p ? ? L Hnil]; subst. inversion Hnil; subst.
    exists p. destruct L as (E1 & _). auto.
  - unfold rest_of. symmetry. apply (lsum_along _ _ leads_on _ _ _ _ Hz). intros x p (-> & _ & _ & ->). auto.
Qed.

Lemma rest_pos : forall k W fut, ready k W fut -> 0 <= rest_of W.
Proof.
  intros k W fut (HW & _). apply lsum_pos. intros x Hx. destruct (HW x Hx) as [P V]. destruct check_parts as (_ & _ & _ & _ & _ & _ & _ & _ & Hd).
  destruct (Hd k _ V) as [_ S]. apply Rmult_le_pos; [lra|auto].
Qed.
Lemma never_leaf : forall ds cs (l : fleaf) env env' G G' B B' V, Forall (lawful1 I) ds -> never_ok (ds, cs, l) = true ->
  (forall l r, 0 <= G l r <= B) -> (forall l r, 0 <= G' l r <= B') ->
  term I env [] G (ds, cs, l) <= exp V * term I env' [] G' (ds, cs, l).
Proof.
  intros ds cs l env env' G G' B B' V Hq H HG HG'. unfold never_ok in H. destruct (dead l) as [v|].
  - apply (leaf_never I _ _ _ _ _ _ _ _ B B' _ v); auto.
  - apply (leaf_null I _ _ _ _ _ _ _ _ B B'); auto.
Qed.

Lemma go_align : forall data fut k W s f, length fut = length data -> ready k W fut -> length s = reals c -> bounded f ->
  go I F data k s f <= exp (rest_of W) * go I F (vadd data (map delta fut)) k (vadd s (distance W)) f.
Proof.
  destruct check_parts as (_ & _ & _ & Hns & Hne & _ & _ & _ & Hd).
  induction data as [|x data IH]; intros fut k W s f Hlen HR Hls [B Hf]; destruct fut as [|a fut]; try discriminate; cbn [go vadd map].
  - pose proof (end_parts k W) as He. pose proof (Hne k) as Hn. pose proof (lawful_end I F HL k) as Hl1. destruct (nth k (ends F) None) as [t|].
    + destruct (noise_parts _ (Hn t eq_refl)) as [Hwf Hpos].
      apply (align I _ t s (vadd s (distance W)) _ _ B B); [intros; apply Hf|intros; apply Hf|auto|].
      intros [[ds cs] l] Hin. pose proof (Hl1 t ds cs l eq_refl Hin) as Hq. destruct (Hpos _ _ _ Hin) as [Hp _].
      destruct (never_ok (ds, cs, l)) eqn:Nv.
      { apply (never_leaf ds cs l _ _ _ _ B B); auto; intros; apply Hf. }
      destruct (He t ds cs l HR eq_refl Hin Nv) as (Nx & ps & Hps & Hb & Hmix & Hc). rewrite <- Hb.
      assert (Hps' : forall p, In p ps -> 0 < weight p /\ length (before p) = reals c /\ keeps_part ds cs l p /\ (next l <> None -> length (after p) = reals c)).
      { intros p Hi. destruct (Hps p Hi) as (A & A1 & A2). rewrite Nx. repeat split; try apply A2; auto. intros []; auto. }
      apply (mixed_leaf I ds cs l (reals c) (reals c) ps Hp Hq Hps' Hmix s _ _ B B _ 0); [intros; apply Hf|intros; apply Hf|auto|lra|].
      intros r Lr. rewrite (mixed_emit ds cs l (reals c) (reals c) ps Hps' s r Hls Lr). rewrite exp_0. lra.
    + pose proof (exp_ge_1 _ (rest_pos k W _ HR)). pose proof (Hf []). apply Rle_trans with (1 * f []); [lra|]. apply Rmult_le_compat_r; lra.
  - destruct (go_range I F data B) as (B1 & HB1 & R1). { specialize (Hf []). lra. }
    destruct (go_range I F (vadd data (map delta fut)) B) as (B2 & HB2 & R2). { specialize (Hf []). lra. }
    set (G := fun (l : fleaf) hs => match next l with
               | None => f [emit l (x :: s) hs]
               | Some k' => go I F data k' (fresh l (x :: s) hs) (fun tr => f (emit l (x :: s) hs :: tr)) end).
    set (env' := x + delta a :: vadd s (distance W)).
    set (G' := fun (l : fleaf) hs => match next l with
               | None => f [emit l env' hs]
               | Some k' => go I F (vadd data (map delta fut)) k' (fresh l env' hs) (fun tr => f (emit l env' hs :: tr)) end).
    assert (HG : forall l r, 0 <= G l r <= B + B1).
    { intros. unfold G. destruct (next l).
      - pose proof (R1 (fun tr => f (emit l (x :: s) r :: tr)) (fun tr => Hf _) n (fresh l (x :: s) r)). specialize (Hf []). lra.
      - pose proof (Hf [emit l (x :: s) r]). lra. }
    assert (HG' : forall l r, 0 <= G' l r <= B + B2).
    { intros. unfold G'. destruct (next l).
      - pose proof (R2 (fun tr => f (emit l env' r :: tr)) (fun tr => Hf _) n (fresh l env' r)). specialize (Hf []). lra.
      - pose proof (Hf [emit l env' r]). lra. }
    destruct (noise_parts _ (Hns k)) as [Hwf Hpos].
    apply (align I _ (nth k (steps F) Nil) (x :: s) env' G G' (B + B1) (B + B2)); auto.
    intros [[ds cs] l] Hin. pose proof (lawful_step I F HL _ _ _ _ Hin) as Hq. destruct (Hpos _ _ _ Hin) as [Hp _].
    destruct (never_ok (ds, cs, l)) eqn:Nv.
    { apply (never_leaf ds cs l _ _ _ _ (B + B1) (B + B2)); auto. }
    destruct (step_parts k W a fut HR ds cs l Hin Nv) as (ps & Hps & Hb & Hmix & Hnext).
    change env' with (vadd (x :: s) (delta a :: distance W)). rewrite <- Hb.
    assert (Hls' : length (x :: s) = S (reals c)) by (simpl; auto).
    revert Hnext. case_eq (next l); [intros k' Nx Hnext|intros Nx Hnext].
    + destruct Hnext as (Hnew & W' & HR' & Hafter & Hcost).
      apply (mixed_leaf I ds cs l (S (reals c)) (reals c) ps Hp Hq Hps Hmix (x :: s) G G' (B + B1) (B + B2) _ (rest_of W')); auto; [lra|].
      intros r Lr. unfold G, G', env'. rewrite Nx. change (x + delta a :: vadd s (distance W)) with (vadd (x :: s) (delta a :: distance W)). rewrite <- Hb.
      rewrite (mixed_emit ds cs l (S (reals c)) (reals c) ps Hps (x :: s) r Hls' Lr).
      rewrite (mixed_fresh ds cs l (S (reals c)) (reals c) ps Hps ltac:(auto) ltac:(congruence) (x :: s) r Hls' Lr).
      rewrite Hafter. apply IH; auto.
      * unfold fresh. rewrite map_length. auto.
      * exists B. intros; apply Hf.
    + apply (mixed_leaf I ds cs l (S (reals c)) (reals c) ps Hp Hq Hps Hmix (x :: s) G G' (B + B1) (B + B2) _ 0); auto; [lra|].
      intros r Lr. unfold G, G', env'. rewrite Nx. change (x + delta a :: vadd s (distance W)) with (vadd (x :: s) (delta a :: distance W)). rewrite <- Hb.
      rewrite (mixed_emit ds cs l (S (reals c)) (reals c) ps Hps (x :: s) r Hls' Lr). rewrite exp_0. lra.
Qed.

(* ---- the beginning ---- *)
Definition starts (ups downs : R) : list (R * bool) :=
  filter (fun x => if Rlt_dec 0 (fst x) then true else false) [(ups, true); (downs, false)].
Lemma starts_in : forall ups downs x, In x (starts ups downs) -> 0 < fst x.
Proof. intros ups downs x H. unfold starts in H. apply filter_In in H. destruct H as [_ H]. destruct (Rlt_dec 0 (fst x)); [auto|discriminate]. Qed.
Lemma starts_sum : forall ups downs (g : bool -> R), 0 <= ups -> 0 <= downs ->
  lsum (fun x => fst x * g (snd x)) (starts ups downs) = ups * g true + downs * g false.
Proof.
  intros ups downs g Hu Hd. unfold starts. simpl. destruct (Rlt_dec 0 ups), (Rlt_dec 0 downs); simpl; try ring;
    repeat match goal with N : ~ 0 < ?z |- _ => assert (z = 0) by lra; clear N end; subst; ring.
Qed.
Definition begun (fut : list (R * R)) : Prop :=
  (forall a up, In a fut -> 0 <= chosen up a) /\ lsum fst fut + lsum snd fut = 1 /\
  (calm \/ (zero_one (lsum fst fut) /\ Forall (fun a => zero_one (fst a) /\ zero_one (snd a)) fut)).

Lemma init_parts : forall fut ds cs l, begun fut -> In (ds, cs, l) (leaves (init F)) -> never_ok (ds, cs, l) = false ->
  exists ps,
    (forall p, In p ps -> 0 < weight p /\ before p = [] /\ keeps_part ds cs l p /\ (next l <> None -> length (after p) = reals c)) /\
    (existsb discreteb ds = false \/ exists p, ps = [p] /\ weight p = 1) /\
    match next l with
    | None => lsum (fun p => weight p * costs p) ps = Q2R (cbound c)
    | Some k' => length (new l) = reals c /\ exists W', ready k' W' fut /\ blend (reals c) weight after ps = distance W' /\
        lsum (fun p => weight p * costs p) ps = Q2R (cbound c) - rest_of W'
    end.
Proof.
  intros fut ds cs l (Hf & H1 & Hmix) Hin Hnv. destruct check_parts as (_ & _ & Hni & _ & _ & Hi & _ & _ & Hd).
  destruct (noise_parts _ Hni) as [_ Hn]. destruct (Hn _ _ _ Hin) as [Hp Hcalm].
  set (ups := lsum fst fut) in *. set (downs := lsum snd fut) in *.
  assert (U0 : 0 <= ups) by (apply lsum_pos; intros a Ha; apply (Hf a true Ha)).
  assert (D0 : 0 <= downs) by (apply lsum_pos; intros a Ha; apply (Hf a false Ha)).
  set (us := starts ups downs).
  set (leads_on := fun (u : R * bool) (z : part * place) => weight (fst z) = fst u /\ before (fst z) = [] /\ keeps_part ds cs l (fst z) /\
    leads l (snd u) false (Q2R (cbound c)) (fst z) (snd z)).
  assert (Hex : forall u, In u us -> exists z, leads_on u z).
  { intros u Hu. specialize (Hi (snd u) _ Hin). unfold init_linked in Hi. apply orb_true_iff in Hi. destruct Hi as [Hi|Hi]; [congruence|].
    destruct (link_part _ _ _ _ _ _ _ _ _ (fst u) Hp Hi) as (p & y & E1 & E2 & E3 & E4). exists (p, y). repeat split; auto; apply E3. }
  destruct (choose _ _ leads_on us Hex) as [zs Hz]. exists (map fst zs).
  assert (Single : zero_one ups -> exists u, us = [u] /\ fst u = 1).
  { unfold us, starts. simpl. intros [Z|Z]; rewrite Z in *.
    - assert (E : downs = 1) by lra. rewrite E. destruct (Rlt_dec 0 0), (Rlt_dec 0 1); try lra. exists (1, false). auto.
    - assert (E : downs = 0) by lra. rewrite E. destruct (Rlt_dec 0 0), (Rlt_dec 0 1); try lra. exists (1, true). auto. }
  assert (Hsum : forall g : bool -> R, lsum (fun x => fst x * g (snd x)) us = ups * g true + downs * g false) by (intros; apply starts_sum; auto).
  assert (Hone : lsum fst us = 1).
  { specialize (Hsum (fun _ => 1)). rewrite !Rmult_1_r, H1 in Hsum. rewrite <- Hsum. apply lsum_ext. intros. ring. }
  split; [|split].
  - intros p Hq. apply in_map_iff in Hq. destruct Hq as (z & <- & Hq). destruct (along_in _ _ _ _ _ _ Hz Hq) as (u & Hu & (E1 & E2 & E3 & E4)).
    rewrite E1. split; [apply (starts_in _ _ _ Hu)|]. split; auto. split; auto. intros Nx. unfold leads in E4.
    destruct (next l) as [k'|]; [|contradiction]. destruct E4 as (_ & V' & _ & _ & -> & _). apply (Hd k' _ V').
  - destruct Hmix as [C|[Z _]]; [left; auto|right]. destruct (Single Z) as (u & E & Eu). rewrite E in Hz. inversion Hz as [|? z ? ? L Hnil]; subst.
    inversion Hnil; subst. exists (fst z). split; auto. destruct L as (-> & _). auto.
  - case_eq (next l); [intros k' Nx|intros Nx].
    + assert (Lead : forall u z, leads_on u z -> fst (snd z) = snd u /\ valid k' (snd z) /\ has_moved (coup (snd z)) = false /\
        costs (fst z) = Q2R (cbound c) - Q2R (still (coup (snd z))) /\ after (fst z) = dist_of (snd z) /\ length (new l) = reals c).
      { intros q z (_ & _ & _ & E4). unfold leads in E4. rewrite Nx in E4. auto. }
      assert (Hne : exists u z, leads_on u z).
      { destruct us as [|u us']; [simpl in Hone; lra|]. inversion Hz as [|? z ? ? L ?]; subst. eauto. }
      destruct Hne as (u0 & z0 & L0). split; [apply (Lead _ _ L0)|].
      exists (map (fun z => (weight (fst z), snd z)) zs). split; [|split].
      * split; [|split; [|split; [|split]]].
        -- intros x Hx. apply in_map_iff in Hx. destruct Hx as (z & <- & Hi'). destruct (along_in _ _ _ _ _ _ Hz Hi') as (u & Hu & L).
           cbn [fst snd]. split; [destruct L as (-> & _); apply (starts_in _ _ _ Hu)|apply (Lead _ _ L)].
        -- exact Hf.
        -- intros up. unfold loose. rewrite lsum_map. rewrite <- (lsum_along _ _ leads_on (fun u => fst u * (if Bool.eqb (snd u) up then 1 else 0)) _ _ _ Hz).
           ++ rewrite (Hsum (fun b => if Bool.eqb b up then 1 else 0)). unfold chosen. destruct up; cbn [Bool.eqb].
              ** change (lsum fst fut = ups * 1 + downs * 0). fold ups. ring.
              ** change (lsum snd fut = ups * 0 + downs * 1). fold downs. ring.
           ++ intros u z L. destruct (Lead _ _ L) as (A1 & _ & A3 & _). destruct L as (E1 & _). cbn [fst snd]. rewrite A1, A3, E1, andb_true_r.
              destruct (Bool.eqb (snd u) up); ring.
        -- destruct Hmix as [C|[Z P]]; [left; auto|right]. destruct (Single Z) as (u & E & Eu). rewrite E in Hz. inversion Hz as [|? z ? ? L Hnil]; subst.
           inversion Hnil; subst. split; auto. exists (snd z). simpl. destruct L as (-> & _). rewrite Eu. auto.
        -- rewrite lsum_map. cbn [fst]. rewrite <- Hone. symmetry. apply (lsum_along _ _ leads_on _ _ _ _ Hz). intros u z (E1 & _). auto.
      * unfold distance. rewrite !blend_map. apply blend_ext. intros z Hi'. destruct (along_in _ _ _ _ _ _ Hz Hi') as (q & _ & L).
        cbn [fst snd]. split; auto. apply (Lead _ _ L).
      * unfold rest_of. rewrite !lsum_map. cbn [fst snd]. rewrite <- (Rmult_1_r (Q2R (cbound c))), <- Hone.
        assert (G : forall us' zs', Forall2 leads_on us' zs' -> lsum (fun z => weight (fst z) * costs (fst z)) zs' =
          Q2R (cbound c) * lsum fst us' - lsum (fun z => weight (fst z) * Q2R (still (coup (snd z)))) zs').
        { induction 1 as [|u z us' zs' L _ IH]; simpl; [ring|]. rewrite IH. destruct (Lead _ _ L) as (_ & _ & _ & -> & _). destruct L as (-> & _). ring. }
        apply G. auto.
    + rewrite lsum_map. rewrite <- (Rmult_1_l (Q2R (cbound c))), <- Hone.
      assert (G : forall us' zs', Forall2 leads_on us' zs' -> lsum (fun z => weight (fst z) * costs (fst z)) zs' = lsum fst us' * Q2R (cbound c)).
      { induction 1 as [|u z us' zs' L _ IH]; simpl; [ring|]. rewrite IH. destruct L as (-> & _ & _ & E4). unfold leads in E4. rewrite Nx in E4.
        destruct E4 as [-> _]. ring. }
      apply G. auto.
Qed.

Lemma begun_private : forall data fut f, length fut = length data -> begun fut -> bounded f ->
  mechanism I F data f <= exp (Q2R (cbound c)) * mechanism I F (vadd data (map delta fut)) f.
Proof.
  intros data fut f Hlen HB0 [B Hf]. unfold mechanism. destruct check_parts as (_ & _ & Hni & _).
  destruct (go_range I F data B) as (B1 & HB1 & R1). { specialize (Hf []). lra. }
  destruct (go_range I F (vadd data (map delta fut)) B) as (B2 & HB2 & R2). { specialize (Hf []). lra. }
  set (G := fun (dat : list R) (l : fleaf) hs => match next l with
             | None => f [emit l [] hs]
             | Some k' => go I F dat k' (fresh l [] hs) (fun tr => f (emit l [] hs :: tr)) end).
  assert (HG : forall l r, 0 <= G data l r <= B + B1).
  { intros. unfold G. destruct (next l).
    - pose proof (R1 (fun tr => f (emit l [] r :: tr)) (fun tr => Hf _) n (fresh l [] r)). specialize (Hf []). lra.
    - pose proof (Hf [emit l [] r]). lra. }
  assert (HG' : forall l r, 0 <= G (vadd data (map delta fut)) l r <= B + B2).
  { intros. unfold G. destruct (next l).
    - pose proof (R2 (fun tr => f (emit l [] r :: tr)) (fun tr => Hf _) n (fresh l [] r)). specialize (Hf []). lra.
    - pose proof (Hf [emit l [] r]). lra. }
  destruct (noise_parts _ Hni) as [Hwf Hpos].
  apply (align I _ (init F) [] [] (G data) (G (vadd data (map delta fut))) (B + B1) (B + B2)); auto.
  intros [[ds cs] l] Hin. assert (Hq : Forall (lawful1 I) ds) by (eapply HL; eauto). destruct (Hpos _ _ _ Hin) as [Hp _].
  destruct (never_ok (ds, cs, l)) eqn:Nv.
  { apply (never_leaf ds cs l _ _ _ _ (B + B1) (B + B2)); auto. }
  destruct (init_parts fut ds cs l HB0 Hin Nv) as (ps & Hps0 & Hmix & Hnext).
  assert (Hps : forall p, In p ps -> 0 < weight p /\ length (before p) = 0%nat /\ keeps_part ds cs l p /\ (next l <> None -> length (after p) = reals c)).
  { intros p Hi. destruct (Hps0 p Hi) as (A1 & A2 & A3). rewrite A2. auto. }
  assert (Hb : blend 0 weight before ps = []) by (clear; induction ps; auto; simpl; destruct (scale (weight a) (before a)); rewrite ?IHps; auto).
  replace (term I [] [] (G (vadd data (map delta fut))) (ds, cs, l))
    with (term I (vadd [] (blend 0 weight before ps)) [] (G (vadd data (map delta fut))) (ds, cs, l)) by (rewrite Hb; reflexivity).
  revert Hnext. case_eq (next l); [intros k' Nx Hnext|intros Nx Hnext].
  - destruct Hnext as (Hnew & W' & HR' & Hafter & Hcost).
    apply (mixed_leaf I ds cs l 0 (reals c) ps Hp Hq Hps Hmix [] (G data) (G (vadd data (map delta fut))) (B + B1) (B + B2) _ (rest_of W')); auto; [lra|].
    intros r Lr. unfold G. rewrite Nx.
    pose proof (mixed_emit ds cs l 0 (reals c) ps Hps [] r eq_refl Lr) as Em. rewrite Hb in Em. simpl in Em. rewrite Em.
    pose proof (mixed_fresh ds cs l 0 (reals c) ps Hps ltac:(auto) ltac:(congruence) [] r eq_refl Lr) as Fm. rewrite Hb in Fm. simpl in Fm. rewrite Fm.
    rewrite Hafter. apply go_align; auto.
    + unfold fresh. rewrite map_length. auto.
    + exists B. intros; apply Hf.
  - apply (mixed_leaf I ds cs l 0 (reals c) ps Hp Hq Hps Hmix [] (G data) (G (vadd data (map delta fut))) (B + B1) (B + B2) _ 0); auto; [lra|].
    intros r Lr. unfold G. rewrite Nx.
    pose proof (mixed_emit ds cs l 0 (reals c) ps Hps [] r eq_refl Lr) as Em. rewrite Hb in Em. simpl in Em. rewrite Em. rewrite exp_0. lra.
Qed.

(* ---- differences are such mixtures ---- *)
Definition part_up (d : R) : R := Rmax d 0 / k0.
Definition part_down (d : R) : R := Rmax (- d) 0 / k0.
Lemma parts_of : forall d, 0 <= part_up d /\ 0 <= part_down d /\ k0 * (part_up d - part_down d) = d /\ k0 * (part_up d + part_down d) = Rabs d.
Proof.
  intros d. destruct check_parts as (K & _). unfold part_up, part_down, Rdiv.
  assert (0 < / k0) by (apply Rinv_0_lt_compat; auto). pose proof (Rmax_r d 0). pose proof (Rmax_r (- d) 0).
  split; [apply Rmult_le_pos; lra|]. split; [apply Rmult_le_pos; lra|].
  unfold Rmax, Rabs. destruct (Rle_dec d 0), (Rle_dec (- d) 0), (Rcase_abs d); split; field_simplify; lra.
Qed.
Definition more (h : R) (l : list (R * R)) : list (R * R) := match l with [] => [] | a :: r => (fst a + h, snd a + h) :: r end.
Definition mixed_of (ds : list R) : list (R * R) := map (fun d => (part_up d, part_down d)) ds.
Lemma mixed_delta : forall ds h, map delta (more h (mixed_of ds)) = ds.
Proof.
  intros ds h. unfold mixed_of. assert (M : forall l, map delta (map (fun d => (part_up d, part_down d)) l) = l).
  { intros l. rewrite map_map. etransitivity; [|apply map_id]. apply map_ext. intros d. unfold delta. simpl. apply (parts_of d). }
  destruct ds as [|d ds]; simpl; auto. rewrite M. f_equal. unfold delta. simpl. destruct (parts_of d) as (_ & _ & E & _). lra.
Qed.
Lemma mixed_total : forall ds, k0 * (lsum fst (mixed_of ds) + lsum snd (mixed_of ds)) = total ds.
Proof.
  unfold mixed_of. induction ds as [|d ds IH]; simpl; [ring|]. destruct (parts_of d) as (_ & _ & _ & E). lra.
Qed.
Lemma more_sums : forall h l, l <> [] -> lsum fst (more h l) = lsum fst l + h /\ lsum snd (more h l) = lsum snd l + h.
Proof. intros h [|a l] H; [contradiction|]. simpl. lra. Qed.

Definition coupled_neighbours (x y : list R) : Prop := neighbours (Sum (most c)) (cintegers c) x y.
Lemma mechanism_pos : forall data f, bounded f -> 0 <= mechanism I F data f.
Proof.
  intros data f [B Hf]. unfold mechanism. destruct (go_range I F data B) as (B1 & HB1 & R1). { specialize (Hf []). lra. }
  assert (HG : forall (l : fleaf) r, 0 <= match next l with
             | None => f [emit l [] r]
             | Some k' => go I F data k' (fresh l [] r) (fun tr => f (emit l [] r :: tr)) end <= B + B1).
  { intros. destruct (next l).
    - pose proof (R1 (fun tr => f (emit l [] r :: tr)) (fun tr => Hf _) n (fresh l [] r)). specialize (Hf []). lra.
    - pose proof (Hf [emit l [] r]). lra. }
  apply (run_range I _ (init F) [] [] _ _ HG).
Qed.
Theorem couplings_private_on : forall x y f, coupled_neighbours x y -> bounded f ->
  mechanism I F x f <= exp (Q2R (cbound c)) * mechanism I F y f.
Proof.
  intros x y f [Hz [Hl Ht]] Hf. destruct check_parts as (K & Hb & _). change (IZR (Z.of_nat (most c))) with k0 in Ht.
  assert (Same : x = y -> mechanism I F x f <= exp (Q2R (cbound c)) * mechanism I F y f).
  { intros <-. pose proof (mechanism_pos x f Hf). pose proof (exp_ge_1 _ Hb). apply Rle_trans with (1 * mechanism I F x f); [lra|].
    apply Rmult_le_compat_r; auto. }
  set (ds := sub y x) in *. assert (Ld : length ds = length x) by (apply sub_length; auto).
  assert (Vy : vadd x ds = y) by (apply vadd_sub; auto).
  destruct (Req_dec (total ds) 0) as [T0|T0].
  { apply Same. rewrite <- Vy. assert (Z : forall l, total l = 0 -> l = repeat 0 (length l)).
    { induction l as [|d l IH]; simpl; intros H; auto. pose proof (Rabs_pos d). pose proof (total_pos l).
      assert (Rabs d = 0) by lra. rewrite IH at 1 by lra. f_equal. destruct (Req_dec d 0); auto. pose proof (Rabs_pos_lt d). lra. }
    rewrite (Z ds T0). symmetry. apply vadd_zero_r. auto. }
  pose proof (total_pos ds) as Tp. set (h := (1 - total ds / k0) / 2).
  assert (Hh : 0 <= h).
  { unfold h. assert (total ds / k0 <= 1); [|lra]. apply Rmult_le_reg_r with k0; auto. unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
  assert (Hne : mixed_of ds <> []) by (unfold mixed_of; destruct ds; [simpl in T0; lra|discriminate]).
  rewrite <- Vy. rewrite <- (mixed_delta ds h). apply begun_private; auto.
  - unfold mixed_of. destruct ds; simpl in *; [auto|]. rewrite map_length. auto.
  - destruct (more_sums h _ Hne) as [S1 S2]. pose proof (mixed_total ds) as Mt.
    assert (Pos : forall a up, In a (mixed_of ds) -> 0 <= chosen up a).
    { intros a up Ha. apply in_map_iff in Ha. destruct Ha as (d & <- & _). destruct (parts_of d) as (A1 & A2 & _). destruct up; auto. }
    split; [|split].
    + intros a up Ha. destruct (mixed_of ds) as [|b l] eqn:E; [contradiction|]. simpl in Ha. destruct Ha as [<-|Ha].
      * specialize (Pos b up (or_introl eq_refl)). unfold chosen in *. destruct up; simpl; lra.
      * apply Pos. right. auto.
    + rewrite S1, S2. unfold h. apply Rmult_eq_reg_l with k0; [|lra]. replace (k0 * (lsum fst (mixed_of ds) + (1 - total ds / k0) / 2 + (lsum snd (mixed_of ds) + (1 - total ds / k0) / 2)))
        with (k0 * (lsum fst (mixed_of ds) + lsum snd (mixed_of ds)) + k0 - total ds) by (field; lra). rewrite Mt. ring.
    + unfold calm. destruct (cintegers c && Z.eqb (group c) 1) eqn:Cm; [right|left; auto]. apply andb_true_iff in Cm. destruct Cm as [Ci Cg].
      apply Z.eqb_eq in Cg. assert (K1 : k0 = 1) by (unfold k0; rewrite Cg; auto). specialize (sub_whole _ _ (Hz Ci)) as Wh. fold ds in Wh.
      assert (Tz : exists z, total ds = IZR z).
      { clear - Wh. induction Wh as [|d l [z ->] _ [z' E]]; simpl; [exists 0%Z; auto|]. exists (Z.abs z + z')%Z. rewrite E, plus_IZR, abs_IZR. auto. }
      assert (T1 : total ds = 1).
      { destruct Tz as [z E]. rewrite E in *. rewrite K1 in Ht. apply le_IZR in Ht. apply le_IZR in Tp. assert (z <> 0)%Z by (intros ->; apply T0; auto).
        replace z with 1%Z by lia. auto. }
      assert (H0 : h = 0) by (unfold h; rewrite T1, K1; field).
      assert (M0 : more h (mixed_of ds) = mixed_of ds).
      { rewrite H0. destruct (mixed_of ds) as [|[u v] l]; simpl; auto. rewrite !Rplus_0_r. auto. }
      rewrite M0.
      assert (Zo : forall l, Forall (fun d => exists z : Z, d = IZR z) l -> total l <= 1 ->
        Forall (fun a => zero_one (fst a) /\ zero_one (snd a)) (mixed_of l)).
      { induction 1 as [|d l [z ->] _ IH]; simpl; intros Hle; constructor.
        - pose proof (total_pos l). assert (Az : Rabs (IZR z) <= 1) by lra. rewrite <- abs_IZR in Az. apply le_IZR in Az.
          assert (z = 0 \/ z = 1 \/ z = -1)%Z as [->|[->| ->]] by lia; unfold part_up, part_down, zero_one; rewrite K1; simpl; unfold Rdiv; rewrite Rinv_1, !Rmult_1_r;
            unfold Rmax; repeat destruct (Rle_dec _ _); lra.
        - apply IH. pose proof (Rabs_pos (IZR z)). lra. }
      specialize (Zo ds Wh ltac:(lra)). split; auto.
      assert (Zs : forall l : list (R * R), Forall (fun a => zero_one (fst a) /\ zero_one (snd a)) l -> exists z, lsum fst l = IZR z).
      { induction 1 as [|a l [[A|A] _] _ [z E]]; simpl; [exists 0%Z; auto| |]; rewrite A, E; [exists z; ring|exists (1 + z)%Z; rewrite plus_IZR; auto]. }
      destruct (Zs _ Zo) as [z E]. rewrite K1, Rmult_1_l, T1 in Mt.
      assert (A1 : 0 <= lsum fst (mixed_of ds)) by (apply lsum_pos; intros a Ha; apply (Pos a true Ha)).
      assert (A2 : 0 <= lsum snd (mixed_of ds)) by (apply lsum_pos; intros a Ha; apply (Pos a false Ha)).
      unfold zero_one. rewrite E in *. apply le_IZR in A1. assert (Z1 : IZR z <= 1) by lra. apply le_IZR in Z1.
      assert (z = 0 \/ z = 1)%Z as [->| ->] by lia; auto.
Qed.
End Sound.

(* For every interpretation of the noise that is lawful. *)
Theorem couplings_private : forall c, check_couplings c = true -> forall I, lawful I -> forall x y f,
  neighbours (Sum (most c)) (cintegers c) x y -> bounded f ->
  mechanism I (cprogram c) x f <= exp (Q2R (cbound c)) * mechanism I (cprogram c) y f.
Proof.
  intros c Hc I HI x y f Hn Hf. apply couplings_private_on; auto.
  intros t ds cs l Ht Hin.
  assert (Hw : noise_ok c t = true).
  { pose proof Hc as H. unfold check_couplings in H. cbv zeta in H. rewrite !andb_true_iff in H. destruct H as ((((((_ & _) & _) & H4) & H5) & H6) & _).
    rewrite forallb_forall in H5, H6. destruct Ht as [-> |[Ht|Ht]]; auto. apply (H6 _ Ht). }
  unfold noise_ok in Hw. apply andb_true_iff in Hw. destruct Hw as [Hw _].
  pose proof (wfb_pos _ _ _ Hw _ _ _ Hin) as Hp. eapply Forall_impl; [|apply Hp]. intros. apply HI. auto.
Qed.
