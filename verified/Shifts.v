(* Which shifts keep a leaf, checked in rationals; the differences between those that are listed follow by convexity and
   by monotonicity. *)
From Coq Require Import Reals QArith Qreals Qabs List Lra Lia Bool ZArith.
From Dpaudit Require Import Law Tree.
Import ListNotations.
Open Scope R_scope.

Lemma Forall2_length : forall A B (P : A -> B -> Prop) a b, Forall2 P a b -> length a = length b.
Proof. induction 1; simpl; congruence. Qed.

(* ---- what the laws allow ---- *)
Definition allowed (d : draw) (x : R) : Prop :=
  match dm d with
  | Laplace => True | Exponential => 0 <= x | Gumbel => 0 <= x | Uniform => x = 0 | DLaplace => exists z : Z, x = IZR z
  end.
Definition cost1 (d : draw) (x : R) : R := Rabs x / Q2R (db d).

(* The interface to the laws: a shift that is allowed costs |shift| / scale, draws stay in their supports, and a single
   value of a continuous draw has probability 0. *)
Definition lawful1 (I : draw -> law) (d : draw) : Prop :=
  (forall x, allowed d x -> shift_ok (I d) x (cost1 d x)) /\
  match dm d with
  | Exponential => forall x, supp (I d) x -> 0 <= x
  | Uniform => forall x, supp (I d) x -> 0 <= x < Q2R (db d)
  | DLaplace => forall x, supp (I d) x -> exists z : Z, x = IZR z
  | _ => True
  end /\
  (dm d <> DLaplace -> forall a, E (I d) (fun x => if Req_EM_T x a then 1 else 0) = 0).
Definition lawful (I : draw -> law) : Prop := forall d, 0 < Q2R (db d) -> lawful1 I d.

Fixpoint cost (ds : list draw) (dv : list R) : R :=
  match ds, dv with d :: ds', x :: dv' => cost1 d x + cost ds' dv' | _, _ => 0 end.

Lemma lawful_shiftable : forall I ds dv, Forall (lawful1 I) ds -> Forall2 allowed ds dv -> shiftable I ds dv (cost ds dv).
Proof.
  intros I ds dv HI H. induction H; simpl; auto. inversion HI; subst.
  exists (cost1 x y), (cost l l'). repeat split; auto. apply H3; auto.
Qed.

(* ---- shifts that keep a region ---- *)
Definition keeps ds (rows eqs : list lin) (c : R) (dl dv : list R) : Prop :=
  Forall2 allowed ds dv /\ cost ds dv <= c /\
  Forall (fun e => 0 <= rate e dl dv) rows /\ Forall (fun e => ev e dl dv = 0) eqs.
Definition good ds rows eqs c dl := exists dv, keeps ds rows eqs c dl dv.

Definition continuous (d : draw) := match dm d with DLaplace => False | _ => True end.

Fixpoint mix (t : R) (x y : list R) : list R :=
  match x, y with a :: x', b :: y' => ((1 - t) * a + t * b) :: mix t x' y' | _, _ => [] end.
Lemma dot_mix : forall q t x y, length x = length y -> dot q (mix t x y) = (1 - t) * dot q x + t * dot q y.
Proof.
  induction q; intros t x y H; simpl; [ring|].
  destruct x, y; simpl in *; try discriminate; [ring|]. rewrite IHq by lia. ring.
Qed.
Lemma rate_mix : forall e t x y u v, length x = length y -> length u = length v ->
  rate e (mix t x y) (mix t u v) = (1 - t) * rate e x u + t * rate e y v.
Proof. intros. unfold rate. rewrite !dot_mix by auto. ring. Qed.

Lemma mix_same : forall t l, mix t l l = l.
Proof. induction l; simpl; auto. rewrite IHl. f_equal. ring. Qed.

Lemma cost1_mix : forall d t a b, 0 < Q2R (db d) -> 0 <= t <= 1 ->
  cost1 d ((1 - t) * a + t * b) <= (1 - t) * cost1 d a + t * cost1 d b.
Proof.
  intros. unfold cost1. unfold Rdiv.
  replace ((1 - t) * (Rabs a * / Q2R (db d)) + t * (Rabs b * / Q2R (db d)))
    with (((1 - t) * Rabs a + t * Rabs b) * / Q2R (db d)) by ring.
  apply Rmult_le_compat_r. { left. apply Rinv_0_lt_compat. auto. }
  eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult.
  rewrite (Rabs_right (1 - t)) by lra. rewrite (Rabs_right t) by lra. lra.
Qed.

Lemma allowed_mix : forall ds t u v, 0 <= t <= 1 -> Forall (fun d => 0 < Q2R (db d)) ds -> Forall continuous ds ->
  Forall2 allowed ds u -> Forall2 allowed ds v ->
  Forall2 allowed ds (mix t u v) /\ cost ds (mix t u v) <= (1 - t) * cost ds u + t * cost ds v.
Proof.
  induction ds; intros t u v Ht Hp Hc Hu Hv; inversion Hu; inversion Hv; subst; simpl.
  - split; [constructor|lra].
  - inversion Hp; inversion Hc; subst.
    destruct (IHds t l' l'0) as [G1 G2]; auto. split.
    + constructor; auto. unfold allowed, continuous in *.
      destruct (dm a); auto; try contradiction.
      * apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra.
      * apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra.
      * subst; ring.
    + pose proof (cost1_mix a t y y0 ltac:(assumption) Ht). lra.
Qed.

Lemma good_mix_costs : forall ds rows eqs c c' t x y, 0 <= t <= 1 -> Forall (fun d => 0 < Q2R (db d)) ds ->
  Forall continuous ds -> length x = length y -> good ds rows eqs c x -> good ds rows eqs c' y ->
  good ds rows eqs ((1 - t) * c + t * c') (mix t x y).
Proof.
  intros ds rows eqs c c' t x y Ht Hp Hc Hl (u & A1 & C1 & R1 & E1) (v & A2 & C2 & R2 & E2).
  assert (Luv : length u = length v) by (apply Forall2_length in A1, A2; congruence).
  exists (mix t u v). destruct (allowed_mix ds t u v Ht Hp Hc A1 A2) as [A C].
  repeat split; auto.
  - eapply Rle_trans; [apply C|]. apply Rplus_le_compat; apply Rmult_le_compat_l; lra.
  - apply Forall_forall. intros e He. rewrite Forall_forall in R1, R2. rewrite rate_mix by auto.
    specialize (R1 e He). specialize (R2 e He). simpl in *.
    apply Rplus_le_le_0_compat; apply Rmult_le_pos; lra.
  - apply Forall_forall. intros e He. rewrite Forall_forall in E1, E2.
    specialize (E1 e He). specialize (E2 e He). simpl in *. unfold ev in *. rewrite rate_mix by auto.
    replace (Q2R (lc e) + ((1 - t) * rate e x u + t * rate e y v))
      with ((1 - t) * (Q2R (lc e) + rate e x u) + t * (Q2R (lc e) + rate e y v)) by ring.
    rewrite E1, E2. ring.
Qed.

Lemma good_mix : forall ds rows eqs c t x y, 0 <= t <= 1 -> Forall (fun d => 0 < Q2R (db d)) ds -> Forall continuous ds ->
  length x = length y -> good ds rows eqs c x -> good ds rows eqs c y -> good ds rows eqs c (mix t x y).
Proof. intros. replace c with ((1 - t) * c + t * c) by ring. apply good_mix_costs; auto. Qed.

Lemma good_weaken : forall ds rows eqs c c' dl, c <= c' -> good ds rows eqs c dl -> good ds rows eqs c' dl.
Proof. intros ds rows eqs c c' dl H (u & A & C & R1 & E1). exists u. repeat split; auto. lra. Qed.

(* ---- what good means for a run ---- *)
Lemma good_keeps : forall cs eqs ds c de,
  good ds (map lin_of cs) eqs c de ->
  (forall e, In (Ceq e) cs -> In (Lin 0 (le e) (lh e)) eqs) ->
  exists dv, Forall2 allowed ds dv /\ cost ds dv <= c /\ Forall (fun e => ev e de dv = 0) eqs /\
    forall env r, length env = length de -> length r = length ds -> all_hold cs env r -> all_hold cs (vadd env de) (vadd r dv).
Proof.
  intros cs eqs ds c de (dv & A & C & Hr & He) Hin. exists dv. repeat split; auto.
  intros env r L1 L2 H. apply Forall_forall. intros k Hk. unfold all_hold in H. rewrite Forall_forall in H. specialize (H k Hk).
  assert (Ld : length r = length dv) by (apply Forall2_length in A; congruence).
  rewrite Forall_forall in Hr. assert (Hk' : 0 <= rate (lin_of k) de dv) by (apply Hr; apply in_map; auto).
  destruct k; simpl in *; rewrite ev_vadd by auto; try lra.
  rewrite Forall_forall in He. specialize (He _ (Hin e Hk)). unfold ev in He at 1. simpl in He.
  unfold rate in *. simpl in *. rewrite RMicromega.Q2R_0 in He. lra.
Qed.

(* ---- the same in rationals ---- *)
Definition qadd (a b : Q) : Q := Qred (a + b).
Definition zeroq (q : Q) : bool := match Qnum q with Z0 => true | _ => false end.
Fixpoint dotQ (q x : list Q) : Q :=
  match q, x with
  | a :: q', b :: x' => if zeroq a || zeroq b then dotQ q' x' else qadd (a * b) (dotQ q' x')
  | _, _ => 0%Q
  end.
Definition rateQ (e : lin) (de dh : list Q) := qadd (dotQ (le e) de) (dotQ (lh e) dh).
Definition evQ (e : lin) (de dh : list Q) := qadd (lc e) (rateQ e de dh).
Definition is_int (q : Q) : bool := (Z.modulo (Qnum q) (Zpos (Qden q)) =? 0)%Z.
Definition allowedQ (d : draw) (x : Q) : bool :=
  match dm d with
  | Laplace => true | Exponential => Qle_bool 0 x | Gumbel => Qle_bool 0 x | Uniform => Qeq_bool x 0 | DLaplace => is_int x
  end.
Fixpoint costQ (ds : list draw) (dv : list Q) : Q :=
  match ds, dv with
  | d :: ds', x :: dv' => if zeroq x then costQ ds' dv' else qadd (Qabs x / db d) (costQ ds' dv')
  | _, _ => 0%Q
  end.
Fixpoint all2 {A B} (f : A -> B -> bool) (a : list A) (b : list B) : bool :=
  match a, b with [], [] => true | x :: a', y :: b' => f x y && all2 f a' b' | _, _ => false end.
Definition keepsQ ds rows eqs (c : Q) (dl dv : list Q) : bool :=
  all2 allowedQ ds dv && Qle_bool (costQ ds dv) c &&
  forallb (fun e => Qle_bool 0 (rateQ e dl dv)) rows && forallb (fun e => Qeq_bool (evQ e dl dv) 0) eqs.

Lemma Q2R_qadd : forall a b, Q2R (qadd a b) = Q2R a + Q2R b.
Proof. intros. unfold qadd. rewrite (Qeq_eqR _ _ (Qred_correct _)). apply Q2R_plus. Qed.
Lemma zeroq_R : forall q, zeroq q = true -> Q2R q = 0.
Proof. intros [n d] H. unfold zeroq in H. simpl in H. destruct n; try discriminate. unfold Q2R. simpl. ring. Qed.
Lemma Q2R_dotQ : forall q x, Q2R (dotQ q x) = dot q (map Q2R x).
Proof.
  induction q; simpl; intros; [apply RMicromega.Q2R_0|]. destruct x; simpl; [apply RMicromega.Q2R_0|].
  destruct (zeroq a) eqn:A; [|destruct (zeroq q0) eqn:B]; simpl.
  - rewrite IHq, (zeroq_R a A). ring.
  - rewrite IHq, (zeroq_R q0 B). ring.
  - rewrite Q2R_qadd, Q2R_mult, IHq. reflexivity.
Qed.
Lemma Q2R_rateQ : forall e a b, Q2R (rateQ e a b) = rate e (map Q2R a) (map Q2R b).
Proof. intros. unfold rateQ, rate. rewrite Q2R_qadd, !Q2R_dotQ. reflexivity. Qed.
Lemma Q2R_evQ : forall e a b, Q2R (evQ e a b) = ev e (map Q2R a) (map Q2R b).
Proof. intros. unfold evQ, ev. rewrite Q2R_qadd, Q2R_rateQ. reflexivity. Qed.
Lemma Qle_bool_R : forall a b, Qle_bool a b = true -> Q2R a <= Q2R b.
Proof. intros. apply Qle_Rle. apply Qle_bool_iff. auto. Qed.
Lemma Qeq_bool_R : forall a b, Qeq_bool a b = true -> Q2R a = Q2R b.
Proof. intros. apply Qeq_eqR. apply Qeq_bool_iff. auto. Qed.
Lemma Q2R_abs : forall q, Q2R (Qabs q) = Rabs (Q2R q).
Proof.
  intros. apply Qabs_case; intros H.
  - apply Qle_Rle in H. rewrite RMicromega.Q2R_0 in H. rewrite Rabs_right; lra.
  - apply Qle_Rle in H. rewrite RMicromega.Q2R_0 in H. rewrite Q2R_opp. rewrite Rabs_left1; lra.
Qed.
Lemma is_int_R : forall q, is_int q = true -> exists z, Q2R q = IZR z.
Proof.
  intros [n d] H. unfold is_int in H; simpl in H. apply Z.eqb_eq in H.
  apply Z_div_exact_full_2 in H; [|discriminate].
  exists (n / Zpos d)%Z. unfold Q2R; simpl. rewrite H at 1. rewrite mult_IZR.
  field. apply IZR_neq. discriminate.
Qed.

Lemma keepsQ_sound : forall ds rows eqs c dl dv, Forall (fun d => 0 < Q2R (db d)) ds -> keepsQ ds rows eqs c dl dv = true ->
  keeps ds rows eqs (Q2R c) (map Q2R dl) (map Q2R dv).
Proof.
  intros ds rows eqs c dl dv Hp H. unfold keepsQ in H. rewrite !andb_true_iff in H. destruct H as (((Ha & Hc) & Hr) & He).
  repeat split.
  - clear - Ha. revert dv Ha. induction ds; destruct dv; simpl; intros; try discriminate; constructor.
    + apply andb_true_iff in Ha. destruct Ha as [Ha _]. unfold allowedQ, allowed in *. destruct (dm a); auto.
      * apply Qle_bool_R in Ha. rewrite RMicromega.Q2R_0 in Ha. auto.
      * apply Qle_bool_R in Ha. rewrite RMicromega.Q2R_0 in Ha. auto.
      * apply Qeq_bool_R in Ha. rewrite RMicromega.Q2R_0 in Ha. auto.
      * apply is_int_R; auto.
    + apply andb_true_iff in Ha. apply IHds. apply Ha.
  - apply Qle_bool_R in Hc. eapply Rle_trans; [|apply Hc]. right. clear - Hp. revert dv.
    induction ds; destruct dv; simpl; try (symmetry; apply RMicromega.Q2R_0).
    inversion Hp; subst. destruct (zeroq q) eqn:Z.
    { rewrite IHds by auto. unfold cost1. rewrite (zeroq_R q Z), Rabs_R0. unfold Rdiv. ring. }
    rewrite Q2R_qadd, IHds by auto. f_equal. unfold cost1.
    rewrite Q2R_div. { rewrite Q2R_abs. reflexivity. }
    intro E. apply Qeq_eqR in E. rewrite RMicromega.Q2R_0 in E. lra.
  - apply Forall_forall. intros e Hi. rewrite forallb_forall in Hr. specialize (Hr e Hi).
    apply Qle_bool_R in Hr. rewrite RMicromega.Q2R_0, Q2R_rateQ in Hr. auto.
  - apply Forall_forall. intros e Hi. rewrite forallb_forall in He. specialize (He e Hi).
    apply Qeq_bool_R in He. rewrite RMicromega.Q2R_0, Q2R_evQ in He. auto.
Qed.
