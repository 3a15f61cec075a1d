(* Leaves of probability 0: an equality that mentions a continuous draw. *)
From Coq Require Import Reals QArith Qreals List Lra Lia Bool FunctionalExtensionality.
From Dpaudit Require Import Law Tree Shifts Farkas.
Import ListNotations.
Open Scope R_scope.

(* Whether the last draw that an expression mentions is continuous. *)
Fixpoint last_draw (ds : list draw) (q : list Q) : option draw :=
  match ds, q with
  | d :: ds', a :: q' => match last_draw ds' q' with Some e => Some e | None => if zeroq a then None else Some d end
  | _, _ => None
  end.
Definition smooth (ds : list draw) (q : list Q) : bool :=
  Nat.leb (length q) (length ds) && match last_draw ds q with Some d => match dm d with DLaplace => false | _ => true end | None => false end.
Definition null (ds : list draw) (cs : list cond) : bool :=
  existsb (fun c => match c with Ceq e => smooth ds (lh e) | _ => false end) cs.

Definition at0 (x : R) : R := if Req_EM_T x 0 then 1 else 0.
Lemma at0_range : forall x, 0 <= at0 x <= 1.
Proof. intros. unfold at0. destruct (Req_EM_T x 0); lra. Qed.

Section Null.
Variable I : draw -> law.

Lemma integ_const : forall ds c, 0 <= c -> integ I ds (fun _ => c) = c.
Proof. induction ds; simpl; intros c H; auto. transitivity (E (I a) (fun _ => c)); [f_equal; extensionality h; auto|apply E_const; auto]. Qed.

Lemma last_none : forall ds q x, (length q <= length ds)%nat -> last_draw ds q = None -> dot q x = 0.
Proof.
  induction ds as [|d ds IH]; intros q x Hl H; destruct q as [|a q]; simpl in *; auto; [lia|]. destruct x as [|y x]; auto.
  destruct (last_draw ds q) eqn:E; [discriminate|]. destruct (zeroq a) eqn:Z; [|discriminate].
  rewrite (zeroq_R a Z), (IH q x) by (auto; lia). ring.
Qed.
Lemma smooth_null : forall ds q c, Forall (lawful1 I) ds -> smooth ds q = true -> integ I ds (fun r => at0 (c + dot q r)) = 0.
Proof.
  unfold smooth. induction ds as [|d ds IH]; intros q c Hl H; destruct q as [|a q]; simpl in H; try discriminate. inversion Hl; subst. simpl.
  apply andb_true_iff in H. destruct H as [Hn H]. destruct (last_draw ds q) as [e|] eqn:Z.
  - rewrite <- (E_const (I d) 0) by lra. f_equal. extensionality h.
    rewrite <- (IH q (c + Q2R a * h) H3) by (rewrite Hn, Z; auto). f_equal. extensionality r. f_equal. ring.
  - destruct (zeroq a) eqn:Za; [discriminate|].
    assert (Na : Q2R a <> 0).
    { intro Q. rewrite <- RMicromega.Q2R_0 in Q. apply eqR_Qeq in Q. unfold Qeq in Q. simpl in Q. unfold zeroq in Za.
      destruct a as [[|n|n] m]; simpl in *; discriminate. }
    assert (D : dm d <> DLaplace) by (intro Q; rewrite Q in H; discriminate).
    rewrite <- (proj2 (proj2 H2) D (- c / Q2R a)). f_equal. extensionality h.
    transitivity (integ I ds (fun _ => at0 (c + Q2R a * h))).
    + f_equal. extensionality r. rewrite (last_none ds) by (auto; apply Nat.leb_le; auto). f_equal. ring.
    + rewrite integ_const by apply at0_range. unfold at0.
      destruct (Req_EM_T (c + Q2R a * h) 0) as [E1|E1], (Req_EM_T h (- c / Q2R a)) as [E2|E2]; auto.
      * exfalso. apply E2. apply Rmult_eq_reg_l with (Q2R a); auto. field_simplify; auto. lra.
      * exfalso. apply E1. rewrite E2. field. auto.
Qed.

Lemma leaf_null : forall L ds cs (l : L) env env' F F' B B' V, Forall (lawful1 I) ds ->
  (forall l r, 0 <= F l r <= B) -> (forall l r, 0 <= F' l r <= B') -> null ds cs = true ->
  term I env [] F (ds, cs, l) <= exp V * term I env' [] F' (ds, cs, l).
Proof.
  intros L ds cs l env env' F F' B B' V Hl HF HF' H. unfold term. simpl. unfold null in H. apply existsb_exists in H.
  destruct H as (c & Hc & H). destruct c as [e|e|e]; try discriminate.
  apply Rle_trans with 0.
  - assert (HB : 0 <= B) by (specialize (HF l []); lra).
    apply Rle_trans with (integ I ds (fun r => B * at0 (Q2R (lc e) + dot (le e) env + dot (lh e) r))).
    + apply (integ_mono I _ _ _ B B).
      * intros. apply ind_mult_range. apply HF.
      * intros r. pose proof (at0_range (Q2R (lc e) + dot (le e) env + dot (lh e) r)). split; [apply Rmult_le_pos; lra|].
        rewrite <- (Rmult_1_r B) at 2. apply Rmult_le_compat_l; lra.
      * intros r _. specialize (HF l r). destruct (ind_01 cs env r) as [[Hi Ha]|[Hi _]]; rewrite Hi.
        -- unfold all_hold in Ha. rewrite Forall_forall in Ha. specialize (Ha _ Hc). simpl in Ha. unfold ev, rate in Ha.
           unfold at0. destruct (Req_EM_T (Q2R (lc e) + dot (le e) env + dot (lh e) r) 0); lra.
        -- pose proof (at0_range (Q2R (lc e) + dot (le e) env + dot (lh e) r)). rewrite Rmult_0_l. apply Rmult_le_pos; lra.
    + rewrite (integ_scale I ds _ 1); [|auto|intros; apply at0_range].
      rewrite (smooth_null ds (lh e) (Q2R (lc e) + dot (le e) env)) by auto. lra.
  - apply Rmult_le_pos; [left; apply exp_pos|]. apply (integ_range I ds _ B'). intros. apply ind_mult_range. auto.
Qed.

(* A condition `>=` of a continuous draw may count as strict: its boundary has probability 0. *)
Definition strict (ds : list draw) (c : cond) : cond :=
  match c with Cge e => if smooth ds (lh e) then Cgt e else c | _ => c end.
Definition edges (ds : list draw) (cs : list cond) : list lin :=
  flat_map (fun c => match c with Cge e => if smooth ds (lh e) then [e] else [] | _ => [] end) cs.
Definition dead_ok (ds : list draw) (cs : list cond) (v : list (nat * Q)) : bool :=
  farkas (map (strict ds) cs ++ supports 0 ds) v.

Lemma integ_add : forall ds k k' B B', (forall r, 0 <= k r <= B) -> (forall r, 0 <= k' r <= B') ->
  integ I ds (fun r => k r + k' r) = integ I ds k + integ I ds k'.
Proof.
  induction ds; intros k k' B B' H H'; simpl; auto.
  rewrite <- E_add; [|apply (integ_bounded I R ds (fun h r => k (h :: r)) B); intros; apply H
                     |apply (integ_bounded I R ds (fun h r => k' (h :: r)) B'); intros; apply H'].
  f_equal. extensionality h. apply (IHds _ _ B B'); auto.
Qed.
Lemma edges_null : forall ds es env, Forall (lawful1 I) ds -> (forall e, In e es -> smooth ds (lh e) = true) ->
  integ I ds (fun r => lsum (fun e => at0 (ev e env r)) es) = 0.
Proof.
  intros ds es env Hl. induction es as [|e es IH]; intros H; cbn [lsum].
  - apply integ_const. lra.
  - rewrite (integ_add ds (fun r => at0 (ev e env r)) (fun r => lsum (fun e => at0 (ev e env r)) es) 1 (INR (length es))).
    + rewrite IH by (intros; apply H; right; auto).
      rewrite Rplus_0_r. etransitivity; [|apply (smooth_null ds (lh e) (Q2R (lc e) + dot (le e) env) Hl (H e (or_introl eq_refl)))].
      f_equal. extensionality r. f_equal. unfold ev, rate. ring.
    + intros. apply at0_range.
    + intros r. clear. induction es; [simpl; lra|]. cbn [lsum length]. rewrite S_INR. pose proof (at0_range (ev a env r)). lra.
Qed.
Lemma at0_sum_pos : forall es env r, 0 <= lsum (fun e => at0 (ev e env r)) es.
Proof. induction es; simpl; intros; [lra|]. pose proof (at0_range (ev a env r)). specialize (IHes env r). lra. Qed.
Lemma strict_or_edge : forall ds cs env r, all_hold cs env r ->
  all_hold (map (strict ds) cs) env r \/ 1 <= lsum (fun e => at0 (ev e env r)) (edges ds cs).
Proof.
  induction cs as [|c cs IH]; intros env r H; simpl; [left; constructor|]. inversion H; subst.
  unfold edges in *. cbn [flat_map]. rewrite lsum_app. specialize (IH env r H3).
  pose proof (at0_sum_pos (flat_map (fun c => match c with Cge e => if smooth ds (lh e) then [e] else [] | _ => [] end) cs) env r) as Ps.
  assert (Here : holds (strict ds c) env r \/
    1 <= lsum (fun e => at0 (ev e env r)) match c with Cge e => if smooth ds (lh e) then [e] else [] | _ => [] end).
  { destruct c as [e|e|e]; simpl; auto. destruct (smooth ds (lh e)); simpl in *; auto.
    destruct (Req_dec (ev e env r) 0) as [Z|Z]; [right|left; lra]. unfold at0. destruct (Req_EM_T (ev e env r) 0); [lra|contradiction]. }
  pose proof (at0_sum_pos match c with Cge e => if smooth ds (lh e) then [e] else [] | _ => [] end env r) as Pc.
  destruct Here as [Here|Here]; [|right; lra]. destruct IH as [IH|IH]; [|right; lra]. left. constructor; auto.
Qed.
Lemma leaf_never : forall L ds cs (l : L) env env' F F' B B' V v, Forall (lawful1 I) ds ->
  (forall l r, 0 <= F l r <= B) -> (forall l r, 0 <= F' l r <= B') -> dead_ok ds cs v = true ->
  term I env [] F (ds, cs, l) <= exp V * term I env' [] F' (ds, cs, l).
Proof.
  intros L ds cs l env env' F F' B B' V v Hl HF HF' H. unfold term. simpl.
  assert (HB : 0 <= B) by (specialize (HF l []); lra).
  apply Rle_trans with 0.
  - apply Rle_trans with (integ I ds (fun r => B * lsum (fun e => at0 (ev e env r)) (edges ds cs))).
    + assert (Most : forall es r, lsum (fun e => at0 (ev e env r)) es <= INR (length es)).
      { clear. induction es; intros r; [simpl; lra|]. cbn [lsum length]. rewrite S_INR. pose proof (at0_range (ev a env r)).
        specialize (IHes r). lra. }
      apply (integ_mono I _ _ _ B (B * INR (length (edges ds cs)))).
      * intros. apply ind_mult_range. apply HF.
      * intros r. split; [apply Rmult_le_pos; [auto|apply at0_sum_pos]|apply Rmult_le_compat_l; auto].
      * intros r Hr. specialize (HF l r). pose proof (at0_sum_pos (edges ds cs) env r) as Ps.
        assert (P0 : 0 <= B * lsum (fun e => at0 (ev e env r)) (edges ds cs)) by (apply Rmult_le_pos; auto).
        destruct (ind_01 cs env r) as [[Hi Ha]|[Hi _]]; rewrite Hi; [|lra].
        destruct (strict_or_edge ds cs env r Ha) as [Hs|Hs].
        -- exfalso. apply (farkas_sound _ _ H env r). apply Forall_app. split; auto.
           apply (supports_hold I ds [] r env); auto.
        -- assert (B * 1 <= B * lsum (fun e => at0 (ev e env r)) (edges ds cs)) by (apply Rmult_le_compat_l; auto). lra.
    + rewrite (integ_scale I ds _ (INR (length (edges ds cs)))); [|auto|].
      * rewrite edges_null; [lra|auto|]. intros e He. unfold edges in He. apply in_flat_map in He. destruct He as (c & _ & He).
        destruct c as [x|x|x]; try contradiction. destruct (smooth ds (lh x)) eqn:S; [|contradiction].
        destruct He as [<-|[]]. auto.
      * intros r. split; [apply at0_sum_pos|]. clear. induction (edges ds cs); [simpl; lra|]. cbn [lsum length].
        rewrite S_INR. pose proof (at0_range (ev a env r)). lra.
  - apply Rmult_le_pos; [left; apply exp_pos|]. apply (integ_range I ds _ B'). intros. apply ind_mult_range. auto.
Qed.
End Null.
