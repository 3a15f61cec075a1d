(* Vectors that show that conditions contradict each other (Farkas), in rationals. *)
From Coq Require Import Reals QArith Qreals List Lra Lia Bool ZArith.
From Dpaudit Require Import Law Tree Shifts.
Import ListNotations.
Open Scope R_scope.

Fixpoint padd (a b : list Q) : list Q :=
  match a, b with
  | [], _ => b | _, [] => a
  | x :: a', y :: b' => (if zeroq x then y else if zeroq y then x else qadd x y) :: padd a' b'
  end.
Lemma dot_padd : forall a b x, dot (padd a b) x = dot a x + dot b x.
Proof.
  induction a; intros b x; simpl; [lra|]. destruct b; simpl; [lra|].
  destruct x; simpl; [lra|]. rewrite IHa. destruct (zeroq a) eqn:A; [|destruct (zeroq q) eqn:B].
  - rewrite (zeroq_R a A). ring.
  - rewrite (zeroq_R q B). ring.
  - rewrite Q2R_qadd. ring.
Qed.
Definition scaleQ (m : Q) (a : list Q) := map (fun x => if zeroq x then 0%Q else Qred (m * x)) a.
Lemma dot_scale : forall m a x, dot (scaleQ m a) x = Q2R m * dot a x.
Proof.
  unfold scaleQ. induction a; intros x; cbn [map dot]; [lra|]. destruct x; cbn [map dot]; [lra|].
  rewrite IHa. destruct (zeroq a) eqn:A.
  - rewrite (zeroq_R a A), RMicromega.Q2R_0. ring.
  - rewrite (Qeq_eqR _ _ (Qred_correct _)), Q2R_mult. ring.
Qed.
Definition laddm (m : Q) (e s : lin) : lin :=
  Lin (qadd (m * lc e) (lc s)) (padd (scaleQ m (le e)) (le s)) (padd (scaleQ m (lh e)) (lh s)).
Lemma ev_laddm : forall m e s env hs, ev (laddm m e s) env hs = Q2R m * ev e env hs + ev s env hs.
Proof.
  intros. unfold ev, rate, laddm; simpl. rewrite !dot_padd, !dot_scale, Q2R_qadd, Q2R_mult. ring.
Qed.

Definition pos (m : Q) : bool := negb (Qle_bool m 0).
Lemma pos_R : forall m, pos m = true -> 0 < Q2R m.
Proof.
  intros m H. unfold pos in H. apply negb_true_iff in H. apply Rnot_le_lt. intro G.
  rewrite <- RMicromega.Q2R_0 in G. apply Rle_Qle in G. apply Qle_bool_iff in G. congruence.
Qed.

(* The weighted sum, and whether a strict condition is in it; None if a multiplier has the wrong sign. *)
Fixpoint weigh (cs : list cond) (v : list (nat * Q)) : option (lin * bool) :=
  match v with
  | [] => Some (Lin 0 [] [], false)
  | (i, m) :: v' =>
      match nth_error cs i, weigh cs v' with
      | Some (Ceq e), Some (s, b) => Some (laddm m e s, b)
      | Some (Cge e), Some (s, b) => if Qle_bool 0 m then Some (laddm m e s, b) else None
      | Some (Cgt e), Some (s, b) => if pos m then Some (laddm m e s, true) else None
      | _, _ => None
      end
  end.
Definition zeros := forallb zeroq.
Definition farkas (cs : list cond) (v : list (nat * Q)) : bool :=
  match weigh cs v with
  | Some (s, b) => zeros (le s) && zeros (lh s) && (pos (- lc s) || (b && Qeq_bool (lc s) 0))
  | None => false
  end.

Lemma dot_zeros : forall a x, zeros a = true -> dot a x = 0.
Proof.
  induction a; simpl; intros x H; auto. destruct x; auto. apply andb_true_iff in H. destruct H as [H1 H2].
  rewrite IHa by auto. rewrite (zeroq_R a H1). ring.
Qed.

Lemma weigh_sound : forall cs env hs v s b, all_hold cs env hs -> weigh cs v = Some (s, b) ->
  0 <= ev s env hs /\ (b = true -> 0 < ev s env hs).
Proof.
  induction v; simpl; intros s b H W.
  - inversion W; subst. split; [|discriminate]. unfold ev, rate; simpl. rewrite RMicromega.Q2R_0. lra.
  - destruct a as [i m]. destruct (nth_error cs i) as [k|] eqn:N; [|discriminate].
    destruct (weigh cs v) as [[s' b']|]; [|destruct k; discriminate].
    specialize (IHv s' b' H eq_refl). destruct IHv as [H1 H2].
    assert (Hk : holds k env hs). { apply nth_error_In in N. unfold all_hold in H. rewrite Forall_forall in H. auto. }
    destruct k; simpl in Hk.
    + destruct (pos m) eqn:P; [|discriminate]. inversion W; subst. rewrite ev_laddm. apply pos_R in P.
      assert (0 < Q2R m * ev e env hs) by (apply Rmult_lt_0_compat; auto). split; intros; lra.
    + destruct (Qle_bool 0 m) eqn:P; [|discriminate]. inversion W; subst. rewrite ev_laddm.
      apply Qle_bool_R in P. rewrite RMicromega.Q2R_0 in P.
      assert (0 <= Q2R m * ev e env hs) by (apply Rmult_le_pos; auto). split; intros; try lra.
      specialize (H2 H3). lra.
    + inversion W; subst. rewrite ev_laddm, Hk. split; intros; try lra. specialize (H2 H0). lra.
Qed.

Theorem farkas_sound : forall cs v, farkas cs v = true -> forall env hs, ~ all_hold cs env hs.
Proof.
  intros cs v H env hs A. unfold farkas in H. destruct (weigh cs v) as [[s b]|] eqn:W; [|discriminate].
  rewrite !andb_true_iff, orb_true_iff, andb_true_iff in H. destruct H as [[Z1 Z2] Hc].
  destruct (weigh_sound cs env hs v s b A W) as [G1 G2].
  assert (Hs : ev s env hs = Q2R (lc s)) by (unfold ev, rate; rewrite !dot_zeros by auto; ring).
  rewrite Hs in *. destruct Hc as [Hc|[Hb Hc]].
  - apply pos_R in Hc. rewrite Q2R_opp in Hc. lra.
  - apply Qeq_bool_R in Hc. rewrite RMicromega.Q2R_0 in Hc. specialize (G2 Hb). lra.
Qed.

(* What draws satisfy because of their supports, from draw number n on. *)
Fixpoint supports (n : nat) (ds : list draw) : list cond :=
  match ds with
  | [] => []
  | d :: ds' =>
      match dm d with
      | Exponential => [Cge (Lin 0 [] (repeat 0%Q n ++ [1%Q]))]
      | Uniform => [Cge (Lin 0 [] (repeat 0%Q n ++ [1%Q])); Cgt (Lin (db d) [] (repeat 0%Q n ++ [(-1)%Q]))]
      | _ => []
      end ++ supports (S n) ds'
  end.

Lemma dot_unit : forall n q pre x r, length pre = n -> dot (repeat 0%Q n ++ [q]) (pre ++ x :: r) = Q2R q * x.
Proof.
  induction n; intros q pre x r H; destruct pre; simpl in *; try discriminate.
  - lra.
  - rewrite IHn by lia. rewrite RMicromega.Q2R_0. lra.
Qed.

Lemma supports_hold : forall I ds pre r env, Forall (lawful1 I) ds -> insupp I ds r ->
  all_hold (supports (length pre) ds) env (pre ++ r).
Proof.
  intros I ds pre r env Hp H. revert pre Hp. induction H; intros pre Hp; simpl; [constructor|].
  inversion Hp; subst. apply Forall_app. split.
  - pose proof (proj1 (proj2 H3)) as Hs.
    destruct (dm x); repeat (apply Forall_cons || apply Forall_nil); simpl; unfold ev, rate; simpl; rewrite dot_unit by auto;
      rewrite ?RMicromega.Q2R_0, ?Q2R_opp, ?RMicromega.Q2R_1; specialize (Hs y H); try lra.
  - specialize (IHForall2 (pre ++ [y])). rewrite <- app_assoc in IHForall2. simpl in IHForall2.
    rewrite app_length in IHForall2. simpl in IHForall2. rewrite Nat.add_1_r in IHForall2. apply IHForall2; assumption.
Qed.
