(* Every record of the domain answers as one of the kinds does. *)
From Coq Require Import Reals QArith Qreals Qabs List Lra Lia Bool ZArith.
From Dpaudit Require Import Law Tree Shifts Farkas Releases_check.
Import ListNotations.
Open Scope R_scope.

Definition lessR (x : R) (y : Q) : bool := if Rlt_dec x (Q2R y) then true else false.
Definition sameR (x : R) (y : Q) : bool := if Req_EM_T x (Q2R y) then true else false.
Definition meetsR := meets_by lessR sameR.
Definition answersR := answers_by lessR sameR.

(* A point of rationals, as one of reals. *)
Definition real (p : point Q) : point R :=
  match p with NoValue => NoValue | ANumber x => ANumber (Q2R x) | AText t => AText t | ATruth b => ATruth b end.
Definition within (c : column) (x : R) : Prop :=
  (forall l, lowest c = Some l -> Q2R l <= x) /\ (forall h, highest c = Some h -> x <= Q2R h).
(* What a column may hold. *)
Definition in_column (c : column) (p : point R) : Prop :=
  match p with
  | NoValue => missing c = true
  | _ => match among c with
         | Some l => exists q, In q l /\ p = real q
         | None => match p with ANumber x => within c x | _ => False end
         end
  end.
Definition record := list (point R).
Definition in_domain (cs : list column) (r : record) : Prop := Forall2 in_column cs r.

Lemma Qle_bool_R : forall a b, Qle_bool a b = true <-> Q2R a <= Q2R b.
Proof. intros. rewrite Qle_bool_iff. split; [apply Qle_Rle|apply Rle_Qle]. Qed.
Lemma Qle_bool_false : forall a b, Qle_bool a b = false <-> Q2R b < Q2R a.
Proof.
  intros. destruct (Qle_bool a b) eqn:E.
  - apply Qle_bool_R in E. split; [discriminate|lra].
  - split; auto. intros _. apply Rnot_le_lt. intros H. apply Qle_bool_R in H. congruence.
Qed.
Lemma Qeq_bool_R : forall a b, Qeq_bool a b = true <-> Q2R a = Q2R b.
Proof. intros. rewrite Qeq_bool_iff. split; [apply Qeq_eqR|apply eqR_Qeq]. Qed.

Lemma same_answer : forall x q t, (forall y, operand t = ANumber y -> (x < Q2R y <-> Q2R q < Q2R y) /\ (x = Q2R y <-> Q2R q = Q2R y)) ->
  meetsR (ANumber x) t = meetsQ (ANumber q) t.
Proof.
  intros x q [a o y] H. unfold meetsR, meetsQ, meets_by. simpl in *.
  assert (B : forall y', y = ANumber y' -> lessR x y' = lessQ q y' /\ sameR x y' = Qeq_bool q y').
  { intros y' ->. specialize (H y' eq_refl). unfold lessR, lessQ, sameR. split.
    - destruct (Rlt_dec x (Q2R y')) as [L|L]; symmetry.
      + apply negb_true_iff. apply Qle_bool_false. tauto.
      + apply negb_false_iff. apply Qle_bool_R. apply Rnot_lt_le. tauto.
    - destruct (Req_EM_T x (Q2R y')) as [L|L]; symmetry.
      + apply Qeq_bool_R. tauto.
      + apply not_true_is_false. rewrite Qeq_bool_R. tauto. }
  destruct o, y; auto; destruct (B x0 eq_refl) as [B1 B2]; rewrite ?B1, ?B2; auto.
Qed.
Lemma same_real : forall p t, meetsR (real p) t = meetsQ p t.
Proof.
  intros p t. destruct p; simpl; try (apply same_answer; intros; tauto);
    unfold meetsR, meetsQ, meets_by; destruct (operation t), (operand t); auto.
Qed.

(* ---- between two marks all numbers answer alike ---- *)
Lemma above_spec : forall a ms, match above a ms with
  | None => forall m, In m ms -> Q2R m <= Q2R a
  | Some b => In b ms /\ Q2R a < Q2R b /\ forall m, In m ms -> Q2R m <= Q2R a \/ Q2R b <= Q2R m
  end.
Proof.
  induction ms as [|m r IH]; simpl; [tauto|]. destruct (Qle_bool m a) eqn:E.
  - apply Qle_bool_R in E. destruct (above a r); [destruct IH as (I & L & H)|]; repeat split; auto; intros k [<-|Hk]; auto.
  - apply Qle_bool_false in E. destruct (above a r) as [b|].
    + destruct IH as (I & L & H). destruct (Qle_bool m b) eqn:F; [apply Qle_bool_R in F|apply Qle_bool_false in F]; repeat split; auto.
      * intros k [<-|Hk]; [right; lra|]. destruct (H k Hk); [left|right]; lra.
      * intros k [<-|Hk]; [right; lra|auto].
    + repeat split; auto. intros k [<-|Hk]; [right; lra|left; auto].
Qed.

Lemma largest_below : forall (x : R) ms, (exists m, In m ms /\ Q2R m < x) ->
  exists a, In a ms /\ Q2R a < x /\ forall m, In m ms -> Q2R m < x -> Q2R m <= Q2R a.
Proof.
  intros x ms. induction ms as [|m r IH]; intros [k [Hk Lk]]; [contradiction|].
  destruct (Rlt_dec (Q2R m) x) as [L|L].
  - destruct (Exists_dec (fun k => Q2R k < x) r ltac:(intros; apply Rlt_dec)) as [Ex|Ex].
    + apply Exists_exists in Ex. destruct (IH Ex) as (a & Ia & La & Ma).
      destruct (Rle_dec (Q2R m) (Q2R a)).
      * exists a. repeat split; simpl; auto. intros j [<-|Hj] Lj; auto.
      * exists m. repeat split; simpl; auto. intros j [<-|Hj] Lj; [lra|]. specialize (Ma j Hj Lj). lra.
    + exists m. repeat split; simpl; auto. intros j [<-|Hj] Lj; [lra|]. destruct Ex. apply Exists_exists. eauto.
  - assert (In k r) by (destruct Hk as [<-|Hk]; [contradiction|auto]).
    destruct IH as (a & Ia & La & Ma); [eauto|]. exists a. repeat split; simpl; auto. intros j [<-|Hj] Lj; [contradiction|auto].
Qed.
Lemma smallest : forall (m0 : Q) ms, exists a, In a (m0 :: ms) /\ forall m, In m (m0 :: ms) -> Q2R a <= Q2R m.
Proof.
  intros m0 ms. revert m0. induction ms as [|m r IH]; intros m0; [exists m0; simpl; split; auto; intros k [<-|[]]; lra|].
  destruct (IH m) as (a & Ia & Ma). destruct (Rle_dec (Q2R m0) (Q2R a)).
  - exists m0. split; [simpl; auto|]. intros k [<-|Hk]; [lra|]. specialize (Ma k Hk). lra.
  - exists a. split; [right; auto|]. intros k [<-|Hk]; [lra|auto].
Qed.

Definition alike (x : R) (q : Q) (ms : list Q) := forall m, In m ms -> (x < Q2R m <-> Q2R q < Q2R m) /\ (x = Q2R m <-> Q2R q = Q2R m).
Lemma Q2R_Qred : forall q, Q2R (Qred q) = Q2R q.
Proof. intros. apply Qeq_eqR. apply Qred_correct. Qed.
Lemma half : Q2R (1 # 2) = 1 / 2. Proof. unfold Q2R. simpl. lra. Qed.
Lemma Q2R_1 : Q2R 1 = 1. Proof. unfold Q2R. simpl. lra. Qed.

Lemma candidate : forall x ms, exists q, In q (0%Q :: flat_map (around ms) ms) /\ alike x q ms.
Proof.
  intros x ms.
  destruct (Exists_dec (fun m => x = Q2R m) ms ltac:(intros; apply Req_EM_T)) as [Ex|Ex].
  { apply Exists_exists in Ex. destruct Ex as (m & Hm & E). exists m. split.
    - right. apply in_flat_map. exists m. split; auto. simpl. auto.
    - intros k _. rewrite E. tauto. }
  assert (Ne : forall m, In m ms -> x <> Q2R m) by (intros m Hm E; apply Ex; apply Exists_exists; eauto). clear Ex.
  destruct (Exists_dec (fun m => Q2R m < x) ms ltac:(intros; apply Rlt_dec)) as [Lo|Lo].
  - apply Exists_exists in Lo. destruct (largest_below x ms Lo) as (a & Ia & La & Ma).
    pose proof (above_spec a ms) as A. destruct (above a ms) as [b|] eqn:Eb.
    + destruct A as (Ib & Lab & Hb). exists (Qred ((a + b) * (1 # 2))). split.
      * right. apply in_flat_map. exists a. split; auto. unfold around. rewrite Eb. simpl. auto.
      * assert (x < Q2R b) by (pose proof (Ne b Ib); destruct (Rlt_dec (Q2R b) x) as [L|L]; [specialize (Ma b Ib L)|]; lra).
        intros m Hm. rewrite Q2R_Qred, Q2R_mult, Q2R_plus, half. pose proof (Ne m Hm). destruct (Hb m Hm); split; split; intros; lra.
    + exists (Qred (a + 1)). split.
      * right. apply in_flat_map. exists a. split; auto. unfold around. rewrite Eb. simpl. auto.
      * intros m Hm. rewrite Q2R_Qred, Q2R_plus, Q2R_1. pose proof (Ne m Hm). specialize (A m Hm). split; split; intros; lra.
  - assert (Hi : forall m, In m ms -> x < Q2R m).
    { intros m Hm. pose proof (Ne m Hm). destruct (Rlt_dec (Q2R m) x); [|lra]. destruct Lo. apply Exists_exists. eauto. }
    destruct ms as [|m0 r]; [exists 0%Q; split; [simpl; auto|intros m []]|].
    destruct (smallest m0 r) as (a & Ia & Ma). exists (Qred (a - 1)). split.
    + right. apply in_flat_map. exists a. split; auto. unfold around. simpl. auto.
    + intros m Hm. rewrite Q2R_Qred, Q2R_minus, Q2R_1. specialize (Ma m Hm). specialize (Hi m Hm). split; split; intros; lra.
Qed.

Lemma points_cover : forall c ts p, in_column c p -> exists q, In q (points_of c ts) /\ forall t, In t ts -> meetsR p t = meetsQ q t.
Proof.
  intros c ts p H. unfold points_of.
  assert (Listed : forall l q, among c = Some l -> In q l ->
            exists q', In q' ((if missing c then [NoValue] else []) ++ match among c with Some l => l | None =>
              let ms := marks c ts in map ANumber (filter (insideb c) (0%Q :: flat_map (around ms) ms)) end) /\
              forall t, In t ts -> meetsR (real q) t = meetsQ q' t).
  { intros l q E Hq. exists q. rewrite E. split; [apply in_app_iff; auto|]. intros. apply same_real. }
  destruct p as [|x|t|b]; simpl in H.
  - exists NoValue. rewrite H. split; [simpl; auto|]. intros t _. apply (same_real NoValue).
  - destruct (among c) as [l|] eqn:E.
    + destruct H as (q & Hq & ->). eapply (Listed l); auto.
    + destruct (candidate x (marks c ts)) as (q & Iq & Aq). exists (ANumber q). split.
      * apply in_app_iff. right. apply in_map. apply filter_In. split; auto. destruct H as [H1 H2].
        unfold insideb. apply andb_true_iff. split.
        -- destruct (lowest c) as [l|] eqn:El; auto. apply Qle_bool_R. specialize (H1 l eq_refl).
           assert (In l (marks c ts)) by (unfold marks; rewrite El; simpl; auto). destruct (Aq l H). lra.
        -- destruct (highest c) as [h|] eqn:Eh; auto. apply Qle_bool_R. specialize (H2 h eq_refl).
           assert (In h (marks c ts)) by (unfold marks; rewrite Eh; apply in_app_iff; right; simpl; auto). destruct (Aq h H). lra.
      * intros t Ht. apply same_answer. intros y Ey. apply Aq. unfold marks. apply in_app_iff. right. apply in_app_iff. right.
        apply in_flat_map. exists t. rewrite Ey. split; simpl; auto.
  - destruct (among c) as [l|] eqn:E; [|contradiction]. destruct H as (q & Hq & Eq). rewrite Eq. eapply (Listed l); auto.
  - destruct (among c) as [l|] eqn:E; [|contradiction]. destruct H as (q & Hq & Eq). rewrite Eq. eapply (Listed l); auto.
Qed.

Lemma same_answers_eq : forall a b, same_answers a b = true -> a = b.
Proof.
  induction a; destruct b; simpl; intros H; try discriminate; auto. apply andb_true_iff in H. destruct H as [H1 H2].
  apply eqb_prop in H1. f_equal; auto.
Qed.
Lemma distinct_keeps : forall l p, In p l -> exists p', In p' (distinct l) /\ fst p' = fst p.
Proof.
  induction l as [|a r IH]; simpl; intros p H; [contradiction|].
  assert (A : forall p', In p' (distinct r) -> In p' (if existsb (fun p' => same_answers (fst a) (fst p')) (distinct r) then distinct r else a :: distinct r)).
  { intros. destruct existsb; simpl; auto. }
  destruct H as [<-|H].
  - destruct existsb eqn:E; [|exists a; simpl; auto]. apply existsb_exists in E. destruct E as (p' & I & S).
    exists p'. split; auto. symmetry. apply same_answers_eq; auto.
  - destruct (IH p H) as (p' & I & S). exists p'. auto.
Qed.
Lemma distinct_in : forall l p, In p (distinct l) -> In p l.
Proof. induction l; simpl; intros p H; auto. destruct existsb in H; [right; auto|destruct H; auto]. Qed.

Lemma kinds_of_column_cover : forall c ts p, in_column c p ->
  exists q, In q (kinds_of_column c ts) /\ forall t, In t ts -> meetsR p t = meetsQ q t.
Proof.
  intros c ts p H. destruct (points_cover c ts p H) as (q & Iq & Hq). unfold kinds_of_column.
  destruct (distinct_keeps (map (fun p => (map (meetsQ p) ts, p)) (points_of c ts)) (map (meetsQ q) ts, q)) as ([b q'] & I & E).
  { apply in_map_iff. eauto. }
  simpl in E. exists q'. split; [apply in_map_iff; exists (b, q'); auto|].
  apply distinct_in in I. apply in_map_iff in I. destruct I as (q0 & E0 & _). inversion E0; subst.
  intros t Ht. rewrite (Hq t Ht). symmetry. eapply (fun H => ext_in_map H t Ht); eauto.
Qed.

Lemma kinds_cover : forall cs ts r j, in_domain cs r ->
  exists k, In k (kinds cs ts j) /\ forall t, In t ts -> (j <= asked t)%nat ->
    meetsR (nth (asked t - j) r NoValue) t = meetsQ (nth (asked t - j) k NoValue) t.
Proof.
  induction cs as [|c cs IH]; intros ts r j H; inversion H; subst; cbn [kinds].
  - exists []. split; [simpl; auto|]. intros t _ _. destruct (asked t - j)%nat; apply (same_real NoValue).
  - destruct (kinds_of_column_cover c (own ts j) y H2) as (q & Iq & Hq). destruct (IH ts l' (S j) H4) as (k & Ik & Hk).
    exists (q :: k). split.
    + apply in_flat_map. exists q. split; auto. apply in_map. auto.
    + intros t Ht Hj. destruct (Nat.eq_dec (asked t) j) as [<-|Ne].
      * rewrite Nat.sub_diag. simpl. apply Hq. unfold own. apply filter_In. split; auto. apply Nat.eqb_refl.
      * replace (asked t - j)%nat with (S (asked t - S j)) by lia. simpl. apply Hk; auto. lia.
Qed.

Theorem every_record_is_of_a_kind : forall c r, in_domain (columns c) r -> In (answersR (tests c) r) (kinds_of c).
Proof.
  intros c r H. destruct (kinds_cover (columns c) (tests c) r 0 H) as (k & Ik & Hk). unfold kinds_of. apply in_map_iff.
  exists k. split; auto. unfold answersQ, answersR, answers_by. apply map_ext_in. intros t Ht. symmetry.
  specialize (Hk t Ht ltac:(lia)). rewrite Nat.sub_0_r in Hk. exact Hk.
Qed.
