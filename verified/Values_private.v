(* The theorem of trees that read values: neighbours move the values no farther than the inner certificate allows. *)
From Coq Require Import Reals QArith Qreals Qabs List Lra Lia Bool ZArith.
From Dpaudit Require Import Law Tree Shifts Farkas Fold Fold_sound Argmax Tree_check Tree_private Values_check.
Import ListNotations.
Open Scope R_scope.

(* ---- pairs ---- *)
Lemma ev_axis : forall m a k pre x post, length pre = m -> ev (axis m a k) (pre ++ x :: post) [] = Q2R k + Q2R a * x.
Proof. intros. rewrite ev_nil. simpl. rewrite dot_unit by auto. auto. Qed.

Lemma vbox_hold : forall n k q s, length q = n -> length s = n -> Forall (fun d => Rabs d <= Q2R k) s ->
  all_hold (vbox n k) (q ++ s) [].
Proof.
  intros n k q s Lq Ls H. unfold vbox, all_hold. apply Forall_forall. intros c Hc. apply in_flat_map in Hc.
  destruct Hc as (j & Hj & Hc). apply in_seq in Hj.
  destruct (nth_split s 0 (n := j)) as (pre & post & E1 & E2); [lia|].
  assert (Hx : Rabs (nth j s 0) <= Q2R k) by (rewrite Forall_forall in H; apply H; apply nth_In; lia).
  set (x := nth j s 0) in *. rewrite E1.
  assert (G : forall a, ev (axis (n + j) a k) (q ++ pre ++ x :: post) [] = Q2R k + Q2R a * x).
  { intros a. rewrite app_assoc. apply ev_axis. rewrite app_length. lia. }
  destruct Hc as [<-|[<-|[]]]; simpl holds; rewrite G.
  - rewrite RMicromega.Q2R_1. unfold Rabs in Hx. destruct (Rcase_abs x); lra.
  - replace (Q2R (-1)) with (-1) by (unfold Q2R; simpl; field). unfold Rabs in Hx. destruct (Rcase_abs x); lra.
Qed.

Lemma form_in : forall n v ds cs l, value_form n v = true -> In (ds, cs, l) (leaves (vprogram v)) ->
  Forall (fun c => (length (le (lin_of c)) <= n)%nat) cs /\ (length (le (vexpr l)) <= n)%nat /\
  (forall w, vdead l = Some w -> farkas cs w = true).
Proof.
  intros n v ds cs l H Hin. unfold value_form in H. rewrite forallb_forall in H. specialize (H _ Hin). simpl in H.
  rewrite !andb_true_iff in H. destruct H as (((_ & H1) & H2) & H3). repeat split.
  - apply Forall_forall. intros c Hc. rewrite forallb_forall in H1. apply Nat.leb_le. apply H1. auto.
  - apply Nat.leb_le. auto.
  - intros w Hw. rewrite Hw in H3. auto.
Qed.

Lemma here_hold : forall cs n q s, length q = n -> Forall (fun c => (length (le (lin_of c)) <= n)%nat) cs ->
  all_hold cs q [] -> all_hold cs (q ++ s) [].
Proof.
  intros cs n q s L Hs H. unfold all_hold in *. rewrite Forall_forall in *. intros c Hc. specialize (H c Hc). specialize (Hs c Hc).
  destruct c; simpl in *; rewrite ev_same by lia; auto.
Qed.

Lemma pair_bound : forall n k v x s r r', value_form n v = true ->
  forallb (fun p => pair_ok n k v (fst p) (snd p)) (pairs_of (leaves (vprogram v))) = true ->
  length x = n -> length s = n -> Forall (fun d => Rabs d <= Q2R k) s ->
  is_value v x r -> is_value v (vadd x s) r' -> r' - r <= 1.
Proof.
  intros n k v x s r r' Hf Hp Lx Ls Hs Hr Hr'.
  destruct (pick_in _ _ _ Hr) as (ds & ca & la & Ia & Ha & ->).
  destruct (pick_in _ _ _ Hr') as (ds' & cb & lb & Ib & Hb & ->).
  destruct (form_in n v _ _ _ Hf Ia) as (Sa & Ea & Da). destruct (form_in n v _ _ _ Hf Ib) as (Sb & Eb & Db).
  rewrite forallb_forall in Hp. specialize (Hp ((ds, ca, la), (ds', cb, lb))). simpl in Hp.
  assert (Hin : In ((ds, ca, la), (ds', cb, lb)) (pairs_of (leaves (vprogram v)))) by (apply in_prod; auto).
  specialize (Hp Hin). destruct (vdead la) as [w|]; [exfalso; eapply farkas_sound; [apply (Da w eq_refl)|apply Ha]|].
  destruct (vdead lb) as [w|]; [exfalso; eapply farkas_sound; [apply (Db w eq_refl)|apply Hb]|].
  apply Rnot_lt_le. intro Hgt. apply (farkas_sound _ _ Hp (x ++ s) []).
  apply Forall_app. split; [apply (here_hold ca n x s); auto|].
  apply Forall_app. split.
  { apply Forall_forall. intros c Hc. apply in_map_iff in Hc. destruct Hc as (c0 & <- & Hc0).
    unfold all_hold in Hb. rewrite Forall_forall in Hb, Sb. apply (holds_cmap _ c0 _ (vadd x s)); [|apply Hb; auto].
    apply ev_all; auto. }
  apply Forall_app. split; [apply vbox_hold; auto|].
  constructor; [|constructor]. simpl.
  assert (G : ev (plus_constant (lsub (shift_all n (vexpr lb)) (vexpr la)) (-1)) (x ++ s) [] =
              ev (vexpr lb) (vadd x s) [] - ev (vexpr la) x [] - 1).
  { rewrite <- (ev_all n (vexpr lb) x s) by auto. rewrite <- (ev_same (vexpr la) x s) by lia. rewrite <- ev_lsub.
    unfold plus_constant. rewrite !ev_nil. simpl. rewrite Q2R_qadd. replace (Q2R (-1)) with (-1) by (unfold Q2R; simpl; field). ring. }
  rewrite G. lra.
Qed.

(* ---- slopes ---- *)
Lemma slope_step : forall n v pre a b post r r', value_form n v = true -> slope_ok n v (length pre) = true ->
  length (pre ++ a :: post) = n -> a <= b -> is_value v (pre ++ a :: post) r -> is_value v (pre ++ b :: post) r' ->
  Rabs (r' - r) <= Q2R (sigma v (length pre)) * (b - a).
Proof.
  intros n v pre a b post r r' Hf Hs L Hab Hr Hr'. unfold slope_ok in Hs. unfold sigma.
  destruct (slope_of v (length pre)) as [sl|].
  - apply andb_true_iff in Hs. destruct Hs as [_ Hp].
    destruct (pick_in _ _ _ Hr) as (ds & ca & la & Ia & Ha & ->).
    destruct (pick_in _ _ _ Hr') as (ds' & cb & lb & Ib & Hb & ->).
    destruct (form_in n v _ _ _ Hf Ia) as (Sa & Ea & Da). destruct (form_in n v _ _ _ Hf Ib) as (Sb & Eb & Db).
    rewrite forallb_forall in Hp. specialize (Hp ((ds, ca, la), (ds', cb, lb))). simpl in Hp.
    assert (Hin : In ((ds, ca, la), (ds', cb, lb)) (pairs_of (leaves (vprogram v)))) by (apply in_prod; auto).
    specialize (Hp Hin). destruct (vdead la) as [w|]; [exfalso; eapply farkas_sound; [apply (Da w eq_refl)|apply Ha]|].
    destruct (vdead lb) as [w|]; [exfalso; eapply farkas_sound; [apply (Db w eq_refl)|apply Hb]|].
    apply andb_true_iff in Hp. destruct Hp as [Up Down].
    set (x := pre ++ a :: post) in *. set (s := b - a).
    assert (Sh : forall e, (length (le e) <= n)%nat -> ev (shift_one n (length pre) e) (x ++ [s]) [] = ev e (pre ++ b :: post) []).
    { intros e He. unfold x. rewrite ev_one by auto. unfold s. replace (a + (b - a)) with b by ring. auto. }
    assert (Ax : forall c, ev (axis n c 0) (x ++ [s]) [] = Q2R c * s).
    { intros c. rewrite ev_axis by auto. rewrite RMicromega.Q2R_0. ring. }
    assert (K : all_hold (ca ++ map (cmap (shift_one n (length pre))) cb ++ [Cge (axis n 1 0)]) (x ++ [s]) []).
    { apply Forall_app. split; [apply (here_hold ca n x [s]); auto|].
      apply Forall_app. split.
      - apply Forall_forall. intros c Hc. apply in_map_iff in Hc. destruct Hc as (c0 & <- & Hc0).
        unfold all_hold in Hb. rewrite Forall_forall in Hb, Sb. apply (holds_cmap _ c0 _ (pre ++ b :: post)); [|apply Hb; auto].
        apply Sh; auto.
      - constructor; [|constructor]. simpl. rewrite Ax, RMicromega.Q2R_1. unfold s. lra. }
    assert (D : ev (lsub (shift_one n (length pre) (vexpr lb)) (vexpr la)) (x ++ [s]) [] =
                ev (vexpr lb) (pre ++ b :: post) [] - ev (vexpr la) x []).
    { rewrite ev_lsub, Sh by auto. rewrite (ev_same (vexpr la) x [s]) by lia. auto. }
    assert (G1 : ev (vexpr lb) (pre ++ b :: post) [] - ev (vexpr la) x [] <= Q2R (sslope sl) * s).
    { apply Rnot_lt_le. intro Hgt. apply (farkas_sound _ _ Up (x ++ [s]) []). apply Forall_app. split; auto.
      constructor; [|constructor]. simpl. rewrite ev_lsub, D, Ax. lra. }
    assert (G2 : - (ev (vexpr lb) (pre ++ b :: post) [] - ev (vexpr la) x []) <= Q2R (sslope sl) * s).
    { apply Rnot_lt_le. intro Hgt. apply (farkas_sound _ _ Down (x ++ [s]) []). apply Forall_app. split; auto.
      constructor; [|constructor]. simpl. rewrite ev_lsub, ev_neg, D, Ax. lra. }
    fold s. unfold Rabs. destruct (Rcase_abs _); lra.
  - assert (Hsame : forall ls, forallb (free_of (length pre)) ls = true -> pick ls (pre ++ a :: post) = pick ls (pre ++ b :: post)).
    { clear. induction ls as [|[[ds cs] l] ls IH]; simpl; intros H; auto.
      rewrite !andb_true_iff in H. destruct H as ((H1 & H2) & H3).
      assert (Ee : forall e, Qeq_bool (coef (length pre) e) 0 = true -> ev e (pre ++ a :: post) [] = ev e (pre ++ b :: post) []).
      { intros e He. apply Qeq_bool_R in He. rewrite RMicromega.Q2R_0 in He. rewrite !ev_nil. rewrite (dot_at _ pre a b).
        unfold coef in He. rewrite He. ring. }
      assert (Hh : all_hold cs (pre ++ a :: post) [] <-> all_hold cs (pre ++ b :: post) []).
      { unfold all_hold. rewrite forallb_forall in H1. split; intros H; rewrite Forall_forall in *; intros c Hc; specialize (H c Hc);
          specialize (H1 c Hc); apply Ee in H1; destruct c; simpl in *; [rewrite <- H1|rewrite <- H1|rewrite <- H1|rewrite H1|rewrite H1|rewrite H1]; auto. }
      destruct (all_hold_dec cs (pre ++ a :: post)), (all_hold_dec cs (pre ++ b :: post)); try tauto; auto.
      f_equal. auto. }
    unfold is_value in *. rewrite (Hsame _ Hs) in Hr. rewrite Hr in Hr'. inversion Hr'. subst.
    rewrite RMicromega.Q2R_0. replace (r' - r') with 0 by ring. rewrite Rabs_R0. lra.
Qed.

Lemma total_tri : forall a b c, length a = length b -> length b = length c -> total (diff a c) <= total (diff a b) + total (diff b c).
Proof.
  induction a; destruct b, c; simpl; intros; try discriminate; [lra|].
  specialize (IHa b c ltac:(lia) ltac:(lia)).
  pose proof (Rabs_triang (r - a) (r0 - r)). replace (r - a + (r0 - r)) with (r0 - a) in H1 by ring. lra.
Qed.
Lemma total_sym : forall a b, length a = length b -> total (diff a b) = total (diff b a).
Proof. induction a; destruct b; simpl; intros; try discriminate; auto. rewrite IHa by lia. f_equal. apply Rabs_minus_sym. Qed.
Lemma Forall2_cons_inv : forall A B (P : A -> B -> Prop) x l m, Forall2 P (x :: l) m ->
  exists y k, m = y :: k /\ P x y /\ Forall2 P l k.
Proof. intros. inversion H; subst. eauto. Qed.
Lemma qsum_R : forall l, Q2R (qsum l) = lsum Q2R l.
Proof. induction l; simpl; [apply RMicromega.Q2R_0|]. rewrite Q2R_qadd, IHl. auto. Qed.

Section Sound.
Variable c : values_certificate.
Hypothesis Hc : check_values c = true.
(* The values of the data. *)
Variable val : list R -> list R.
Hypothesis Hval : forall q, length q = vlength c -> Forall2 (fun v r => is_value v q r) (vvalues c) (val q).

Lemma val_length : forall q, length q = vlength c -> length (val q) = length (vvalues c).
Proof. intros q H. symmetry. eapply Forall2_length. apply Hval. auto. Qed.

Lemma forms : forall v, In v (vvalues c) -> value_form (vlength c) v = true.
Proof.
  intros v Hv. unfold check_values in Hc. rewrite !andb_true_iff in Hc. destruct Hc as ((_ & Hf) & _).
  rewrite forallb_forall in Hf. auto.
Qed.

Lemma values_step : forall pre a b post, length (pre ++ a :: post) = vlength c ->
  (forall v, In v (vvalues c) -> slope_ok (vlength c) v (length pre) = true) ->
  Q2R (qsum (map (fun v => sigma v (length pre)) (vvalues c))) <= 1 -> a <= b ->
  total (diff (val (pre ++ a :: post)) (val (pre ++ b :: post))) <= b - a.
Proof.
  intros pre a b post L Hs Hsum Hab.
  assert (L' : length (pre ++ b :: post) = vlength c) by (rewrite app_length in *; simpl in *; lia).
  assert (G : total (diff (val (pre ++ a :: post)) (val (pre ++ b :: post))) <=
              Q2R (qsum (map (fun v => sigma v (length pre)) (vvalues c))) * (b - a)).
  { rewrite qsum_R, lsum_map. pose proof (Hval _ L) as V1. pose proof (Hval _ L') as V2. pose proof forms as Hf.
    revert V1 V2 Hs Hf. generalize (val (pre ++ a :: post)), (val (pre ++ b :: post)). clear - L Hab.
    induction (vvalues c) as [|v vs IH]; intros l1 l2 V1 V2 Hs Hf.
    - inversion V1; inversion V2; subst; simpl; lra.
    - destruct (Forall2_cons_inv _ _ _ _ _ _ V1) as (y1 & k1 & -> & A1 & B1).
      destruct (Forall2_cons_inv _ _ _ _ _ _ V2) as (y2 & k2 & -> & A2 & B2). simpl.
      specialize (IH k1 k2 B1 B2 ltac:(intros; apply Hs; right; auto) ltac:(intros; apply Hf; right; auto)).
      pose proof (slope_step (vlength c) v pre a b post y1 y2 (Hf v (or_introl eq_refl)) (Hs v (or_introl eq_refl)) L Hab A1 A2).
      lra. }
  assert (0 <= (1 - Q2R (qsum (map (fun v => sigma v (length pre)) (vvalues c)))) * (b - a)) by (apply Rmult_le_pos; lra).
  lra.
Qed.

Lemma values_walk : forall x y pre, (forall j, (j < vlength c)%nat ->
    (forall v, In v (vvalues c) -> slope_ok (vlength c) v j = true) /\
    Q2R (qsum (map (fun v => sigma v j) (vvalues c))) <= 1) ->
  length (pre ++ x) = vlength c -> length x = length y ->
  total (diff (val (pre ++ x)) (val (pre ++ y))) <= total (diff x y).
Proof.
  induction x as [|a x IH]; intros y pre Hj L Lxy; destruct y as [|b y]; try discriminate.
  - simpl. assert (G : forall l, total (diff l l) = 0).
    { clear. induction l; simpl; auto. rewrite IHl. replace (a - a) with 0 by ring. rewrite Rabs_R0. ring. }
    rewrite G. lra.
  - simpl in Lxy. assert (Lb : length (pre ++ b :: x) = vlength c) by (rewrite app_length in *; simpl in *; lia).
    assert (Ly : length (pre ++ b :: y) = vlength c) by (rewrite app_length in *; simpl in *; lia).
    destruct (Hj (length pre)) as [Hs Hsum]; [rewrite app_length in L; simpl in L; lia|].
    assert (S1 : total (diff (val (pre ++ a :: x)) (val (pre ++ b :: x))) <= Rabs (b - a)).
    { destruct (Rle_dec a b) as [Hab|Hab].
      - rewrite Rabs_right by lra. apply values_step; auto.
      - rewrite Rabs_left1 by lra. rewrite total_sym; [|rewrite !val_length; auto].
        replace (- (b - a)) with (a - b) by ring. apply values_step; auto. lra. }
    assert (S2 : total (diff (val (pre ++ b :: x)) (val (pre ++ b :: y))) <= total (diff x y)).
    { specialize (IH y (pre ++ [b])). rewrite <- !app_assoc in IH. simpl in IH. apply IH; auto. }
    eapply Rle_trans; [apply (total_tri _ (val (pre ++ b :: x)))|]; [rewrite !val_length; auto|rewrite !val_length; auto|].
    simpl. lra.
Qed.

Lemma scope_box : forall s n x y, tree_neighbours s false n x y -> Forall (fun d => Rabs d <= IZR (Z.of_nat (steps_in s))) (diff x y).
Proof.
  intros s n x y (Lx & Ly & _ & H). destruct s as [k|k|k]; simpl.
  - apply diff_Forall. auto.
  - destruct H as (u & Hu & H). apply diff_Forall. clear - H Hu. induction H; constructor; auto.
    rewrite minus_IZR in H. apply inj_le, IZR_le in Hu. assert (0 <= IZR (Z.of_nat u)) by (apply IZR_le; lia).
    unfold Rabs. destruct (Rcase_abs (y - x)); lra.
  - rewrite <- diff_total in H. revert H. generalize (diff x y). induction l; simpl; intros; constructor.
    + pose proof (total_pos l). lra.
    + apply IHl. pose proof (Rabs_pos a). lra.
Qed.

Lemma values_close : forall x y, tree_neighbours (vscope c) false (vlength c) x y ->
  tree_neighbours (tscope (inner c)) false (length (vvalues c)) (val x) (val y).
Proof.
  intros x y Hn. pose proof Hn as (Lx & Ly & _ & Hm). pose proof Hc as H. unfold check_values in H. rewrite !andb_true_iff in H.
  destruct H as (_ & H). split; [apply val_length; auto|]. split; [apply val_length; auto|]. split; [discriminate|].
  assert (Lxy : length x = length y) by congruence.
  destruct (vsloped c).
  - destruct (vscope c) as [k|k|k]; try discriminate. destruct (tscope (inner c)) as [k'|k'|k']; try discriminate.
    apply andb_true_iff in H. destruct H as [Hk H]. apply Nat.eqb_eq in Hk. subst k'. rewrite forallb_forall in H.
    rewrite <- diff_total in *. eapply Rle_trans; [|apply Hm].
    apply (values_walk x y []); auto. intros j Hj. specialize (H j). rewrite andb_true_iff in H.
    destruct H as [H1 H2]; [apply in_seq; lia|]. rewrite forallb_forall in H1. split; auto.
    apply Qle_bool_R in H2. rewrite RMicromega.Q2R_1 in H2. auto.
  - pose proof (scope_box (vscope c) (vlength c) x y Hn) as Hbox.
    destruct (tscope (inner c)) as [[|[|]]|k|k]; try discriminate. rewrite forallb_forall in H.
    pose proof (Hval x Lx) as V1. pose proof (Hval y Ly) as V2. pose proof forms as Hf.
    assert (Ld : length (diff x y) = vlength c) by (rewrite diff_length; auto).
    assert (Lds : length (diff y x) = vlength c) by (rewrite diff_length; auto).
    assert (Hbox' : Forall (fun d => Rabs d <= Q2R (inject_Z (Z.of_nat (steps_in (vscope c))))) (diff x y))
      by (rewrite Q2R_inject_Z; auto).
    assert (Hbox2 : Forall (fun d => Rabs d <= Q2R (inject_Z (Z.of_nat (steps_in (vscope c))))) (diff y x)).
    { clear - Hbox'. revert y Hbox'. induction x; destruct y; simpl; intros H; auto. inversion H; subst.
      constructor; auto. rewrite Rabs_minus_sym. auto. }
    clear Hn Hm Hbox. revert V1 V2 H Hf. generalize (val x), (val y). clear Hval Hc.
    induction (vvalues c) as [|v vs IH]; intros l1 l2 V1 V2 H Hf.
    + inversion V1; inversion V2; subst; constructor.
    + destruct (Forall2_cons_inv _ _ _ _ _ _ V1) as (y1 & k1 & -> & A1 & B1).
      destruct (Forall2_cons_inv _ _ _ _ _ _ V2) as (y2 & k2 & -> & A2 & B2). constructor.
      * assert (Hp := H v (or_introl eq_refl)). assert (Fv := Hf v (or_introl eq_refl)).
        assert (G1 : y2 - y1 <= 1).
        { apply (pair_bound _ _ v x (diff x y) y1 y2 Fv Hp); auto. rewrite vadd_diff; auto. }
        assert (G2 : y1 - y2 <= 1).
        { apply (pair_bound _ _ v y (diff y x) y2 y1 Fv Hp); auto. rewrite vadd_diff; auto. }
        simpl. unfold Rabs. destruct (Rcase_abs (y2 - y1)); lra.
      * apply IH; auto. intros; apply H; right; auto. intros; apply Hf; right; auto.
Qed.

Theorem values_private : forall I, lawful I -> forall x y f, tree_neighbours (vscope c) false (vlength c) x y -> bounded f ->
  tree_mechanism I (tprogram (inner c)) (val x) f <= exp (Q2R (tbound (inner c))) * tree_mechanism I (tprogram (inner c)) (val y) f.
Proof.
  intros I HI x y f Hn Hf. pose proof (values_close x y Hn) as Hv. pose proof Hc as H. unfold check_values in H.
  rewrite !andb_true_iff in H. destruct H as ((((Ht & Hi) & Hl) & _) & _). apply negb_true_iff in Hi. apply Nat.eqb_eq in Hl.
  apply tree_private; auto. rewrite Hi, Hl. auto.
Qed.
End Sound.

