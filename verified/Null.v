(* Leaves of probability 0: an equality that mentions a continuous draw. *)
From Coq Require Import Reals QArith Qreals List Lra Lia Bool FunctionalExtensionality.
From Dpaudit Require Import Law Tree Shifts Farkas.
Import ListNotations.
Open Scope R_scope.

(* Whether the last draw that an expression mentions is continuous. *)
Fixpoint smooth (ds : list draw) (q : list Q) : bool :=
  match ds, q with
  | d :: ds', a :: q' =>
      if zeros q' then negb (Qeq_bool a 0) && match dm d with DLaplace => false | _ => true end else smooth ds' q'
  | _, _ => false
  end.
Definition null (ds : list draw) (cs : list cond) : bool :=
  existsb (fun c => match c with Ceq e => smooth ds (lh e) | _ => false end) cs.

Definition at0 (x : R) : R := if Req_EM_T x 0 then 1 else 0.
Lemma at0_range : forall x, 0 <= at0 x <= 1.
Proof. intros. unfold at0. destruct (Req_EM_T x 0); lra. Qed.

Section Null.
Variable I : draw -> law.

Lemma integ_const : forall ds c, 0 <= c -> integ I ds (fun _ => c) = c.
Proof. induction ds; simpl; intros c H; auto. transitivity (E (I a) (fun _ => c)); [f_equal; extensionality h; auto|apply E_const; auto]. Qed.

Lemma smooth_null : forall ds q c, Forall (lawful1 I) ds -> smooth ds q = true -> integ I ds (fun r => at0 (c + dot q r)) = 0.
Proof.
  induction ds as [|d ds IH]; intros q c Hl H; destruct q as [|a q]; simpl in H; try discriminate. inversion Hl; subst. simpl.
  destruct (zeros q) eqn:Z.
  - apply andb_true_iff in H. destruct H as [Ha Hd].
    assert (Na : Q2R a <> 0).
    { intro Q. rewrite <- RMicromega.Q2R_0 in Q. apply eqR_Qeq in Q. apply Qeq_bool_iff in Q. rewrite Q in Ha. discriminate. }
    assert (D : dm d <> DLaplace) by (intro Q; rewrite Q in Hd; discriminate).
    rewrite <- (proj2 (proj2 H2) D (- c / Q2R a)). f_equal. extensionality h.
    transitivity (integ I ds (fun _ => at0 (c + Q2R a * h))).
    + f_equal. extensionality r. rewrite dot_zeros by auto. f_equal. ring.
    + rewrite integ_const by apply at0_range. unfold at0.
      destruct (Req_EM_T (c + Q2R a * h) 0) as [E1|E1], (Req_EM_T h (- c / Q2R a)) as [E2|E2]; auto.
      * exfalso. apply E2. apply Rmult_eq_reg_l with (Q2R a); auto. field_simplify; auto. lra.
      * exfalso. apply E1. rewrite E2. field. auto.
  - rewrite <- (E_const (I d) 0) by lra. f_equal. extensionality h.
    rewrite <- (IH q (c + Q2R a * h) H3 H). f_equal. extensionality r. f_equal. ring.
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
End Null.
