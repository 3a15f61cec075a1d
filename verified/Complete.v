(* Trees whose branches leave out nothing: whatever the draws are, a run ends in exactly one leaf. *)
From Coq Require Import Reals QArith Qreals List Lra Lia Bool FunctionalExtensionality.
From Dpaudit Require Import Law Tree Shifts Farkas Argmax.
Import ListNotations.
Open Scope R_scope.

(* ---- the ways of a branch: one of them, and one only ---- *)
Definition same_lin (a b : lin) : bool :=
  let d := lsub a b in Qeq_bool (lc d) 0 && zeros (le d) && zeros (lh d).
Definition same_cond (a b : cond) : bool :=
  match a, b with Cgt x, Cgt y | Cge x, Cge y | Ceq x, Ceq y => same_lin x y | _, _ => false end.
Fixpoint argmax_ways (before es : list lin) : list (list cond) :=
  match es with [] => [] | e :: es' => largest before e es' :: argmax_ways (before ++ [e]) es' end.
Definition nothing := Lin 0 [] [].
(* Of an argmax the first conditions of all ways but the first are the distances from the first expression. *)
Definition is_argmax (ways : list (list cond)) : bool :=
  match ways with
  | [] => false
  | _ :: rest =>
      let es := nothing :: map (fun cs => match cs with c :: _ => lin_of c | [] => nothing end) rest in
      all2 (all2 same_cond) ways (argmax_ways [] es)
  end.
Definition covering (ways : list (list cond)) : bool :=
  match ways with
  | [[Cgt a]; [Cge b]] => same_lin a (lneg b)
  | [[Cgt a]; [Ceq b]; [Cgt d]] => same_lin a (lneg b) && same_lin b d
  | _ => is_argmax ways
  end.

Lemma same_lin_ev : forall a b env hs, same_lin a b = true -> ev a env hs = ev b env hs.
Proof.
  intros a b env hs H. unfold same_lin in H. cbv zeta in H. rewrite !andb_true_iff in H. destruct H as [[H1 H2] H3].
  pose proof (ev_lsub a b env hs) as E. 
  assert (Z : ev (lsub a b) env hs = Q2R (lc (lsub a b))) by (unfold ev, rate; rewrite !dot_zeros by auto; ring).
  apply Qeq_bool_R in H1. rewrite RMicromega.Q2R_0 in H1. lra.
Qed.
Lemma same_cond_holds : forall a b env hs, same_cond a b = true -> holds a env hs <-> holds b env hs.
Proof.
  intros a b env hs H. destruct a, b; try discriminate; simpl in *; rewrite (same_lin_ev _ _ env hs H); reflexivity.
Qed.
Lemma ind_same : forall a b env hs, all2 same_cond a b = true -> ind a env hs = ind b env hs.
Proof.
  induction a as [|x a IH]; destruct b as [|y b]; simpl; intros env hs H; try discriminate; auto.
  apply andb_true_iff in H. destruct H as [H1 H2]. pose proof (same_cond_holds x y env hs H1) as S.
  destruct (holds_dec x env hs), (holds_dec y env hs); auto; tauto.
Qed.
Definition ways_sum (ways : list (list cond)) env hs : R := lsum (fun cs => ind cs env hs) ways.
Lemma ways_same : forall a b env hs, all2 (all2 same_cond) a b = true -> ways_sum a env hs = ways_sum b env hs.
Proof.
  unfold ways_sum. induction a as [|x a IH]; destruct b as [|y b]; simpl; intros env hs H; try discriminate; auto.
  apply andb_true_iff in H. destruct H as [H1 H2]. rewrite (ind_same x y env hs H1), (IH b env hs H2). auto.
Qed.
Lemma first_largest : forall es env hs, es <> [] -> exists pre e post, es = pre ++ e :: post /\
  (forall o, In o pre -> ev o env hs < ev e env hs) /\ (forall o, In o post -> ev o env hs <= ev e env hs).
Proof.
  induction es as [|a es IH]; intros env hs H; [contradiction|]. destruct es as [|b es].
  - exists [], a, []. simpl. repeat split; auto; intros o [].
  - destruct (IH env hs ltac:(discriminate)) as (pre & e & post & E & H1 & H2). destruct (Rlt_dec (ev a env hs) (ev e env hs)) as [L|L].
    + exists (a :: pre), e, post. rewrite E. repeat split; auto. intros o [<-|Ho]; auto.
    + exists [], a, (b :: es). repeat split; auto; [intros o []|]. intros o Ho. rewrite E in Ho. apply in_app_iff in Ho.
      destruct Ho as [Ho|[<-|Ho]]; [specialize (H1 o Ho)| |specialize (H2 o Ho)]; lra.
Qed.
Lemma argmax_one : forall (I : draw -> law) es env hs, es <> [] -> ways_sum (argmax_ways [] es) env hs = 1.
Proof.
  intros I es env hs H.
  assert (R : forall es before, ways_sum (argmax_ways before es) env hs =
    run I (ways_of before es (map (fun _ => Leaf tt) es)) env hs (fun _ _ => 1)).
  { unfold ways_sum. induction es0; intros before; simpl; auto. rewrite IHes0. ring. }
  rewrite R. destruct (first_largest es env hs H) as (pre & e & post & -> & H1 & H2).
  change (run I (argmax (pre ++ e :: post) (map (fun _ => Leaf tt) (pre ++ e :: post))) env hs (fun _ _ => 1) = 1).
  rewrite (run_argmax I _ pre e post _ (Leaf tt) env hs); auto. rewrite map_app. simpl.
  rewrite nth_error_app2, map_length by (rewrite map_length; lia). rewrite Nat.sub_diag. auto.
Qed.
Lemma covering_one : forall (I : draw -> law) ways env hs, covering ways = true -> ways_sum ways env hs = 1.
Proof.
  intros I ways env hs H.
  assert (A : is_argmax ways = true -> ways_sum ways env hs = 1).
  { intros G. unfold is_argmax in G. destruct ways as [|w rest]; [discriminate|]. cbv zeta in G.
    rewrite (ways_same _ _ env hs G). apply (argmax_one I). discriminate. }
  assert (N : forall a b, same_lin a (lneg b) = true -> ev a env hs = - ev b env hs).
  { intros a b G. rewrite (same_lin_ev _ _ env hs G), ev_neg. auto. }
  destruct ways as [|[|[a|a|a] [|]] [|[|[b|b|b] [|]] [|[|[d|d|d] [|]] [|]]]]; try (apply A; exact H); try discriminate;
    unfold covering in H; unfold ways_sum; simpl.
  - pose proof (N a b H). destruct (Rlt_dec _ _), (Rle_dec _ _); lra.
  - apply andb_true_iff in H. destruct H as [H1 H2]. pose proof (N a b H1). pose proof (same_lin_ev b d env hs H2).
    destruct (Rlt_dec 0 (ev a env hs)), (Req_EM_T _ _), (Rlt_dec 0 (ev d env hs)); lra.
Qed.

(* ---- trees ---- *)
Section Trees.
Context {L : Type}.
Fixpoint ways (t : tree L) : list (list cond) := match t with Br cs _ b => cs :: ways b | _ => [] end.
(* further: t are the further ways of a branch. *)
Fixpoint complete (further : bool) (t : tree L) : bool :=
  match t with
  | Leaf _ => negb further | Draw _ t' => negb further && complete false t' | Nil => further
  | Br cs a b => complete false a && complete true b && (further || covering (ways t))
  end.

(* The same tree whose draws begin with ds on every path, as far as there are ds: other draws in their place, and more. *)
Fixpoint pad (ds : list draw) (t : tree L) : tree L :=
  match t with
  | Leaf l => fold_right Draw (Leaf l) ds
  | Draw d t' => match ds with [] => Draw d (pad [] t') | e :: r => Draw e (pad r t') end
  | Br cs a b => Br cs (pad ds a) (pad ds b)
  | Nil => Nil
  end.
Definition beyond (ds ds' : list draw) : list draw := ds ++ skipn (length ds) ds'.

Lemma leaves_pad : forall t ds, leaves (pad ds t) = map (fun '(ds', cs, l) => (beyond ds ds', cs, l)) (leaves t).
Proof.
  unfold beyond. induction t as [l|d t IH|cs a IHa b IHb|]; intros ds; simpl; auto.
  - rewrite skipn_nil, app_nil_r. induction ds; simpl; auto. rewrite IHds. auto.
  - rewrite map_map. destruct ds as [|e r]; simpl; rewrite IH, map_map; apply map_ext; intros [[ds' cs'] l']; auto.
  - rewrite IHa, IHb, map_app, !map_map. f_equal. apply map_ext. intros [[ds' cs'] l']. auto.
Qed.
Lemma wf_pad : forall t ds n, wf t n -> wf (pad ds t) n.
Proof.
  induction t as [l|d t IH|cs a IHa b IHb|]; simpl; intros ds n H; auto.
  - revert n H. induction ds; simpl; intros n H; auto.
  - destruct ds; simpl; auto.
  - destruct H as (H1 & H2 & H3). auto.
Qed.

(* A run of it, of which only the draws ds count, is a draw of these. *)
Variable I : draw -> law.
Lemma run_pad : forall t further ds env hs G, complete further t = true -> (forall r, 0 <= G r) ->
  (forall r s, length r = (length hs + length ds)%nat -> G (r ++ s) = G r) ->
  run I (pad ds t) env hs (fun _ r => G r) =
  (if further then ways_sum (ways t) env hs else 1) * integ I ds (fun r => G (hs ++ r)).
Proof.
  induction t as [l|d t IH|cs a IHa b IHb|]; intros further ds env hs G Hc HG Hs; simpl in Hc.
  - destruct further; [discriminate|]. simpl. rewrite Rmult_1_l. clear Hs. revert hs. induction ds; intros hs; simpl; [rewrite app_nil_r; auto|].
    f_equal. extensionality h. rewrite IHds. f_equal. extensionality r. rewrite <- app_assoc. auto.
  - destruct further; [discriminate|]. simpl in Hc. rewrite Rmult_1_l. destruct ds as [|e r]; simpl.
    + rewrite <- (E_const (I d) (G (hs ++ []))) by auto. f_equal. extensionality h.
      rewrite (IH false [] env (hs ++ [h]) G Hc HG); simpl.
      * rewrite Rmult_1_l, !app_nil_r. apply Hs. simpl. lia.
      * intros q s Hq. rewrite app_length in Hq. simpl in Hq. rewrite <- (firstn_skipn (length hs) q), <- app_assoc, !Hs by (rewrite firstn_length; simpl; lia). auto.
    + f_equal. extensionality h. rewrite (IH false r env (hs ++ [h]) G Hc HG).
      * rewrite Rmult_1_l. f_equal. extensionality q. rewrite <- app_assoc. auto.
      * intros q s Hq. apply Hs. rewrite app_length in Hq. simpl in *. lia.
  - rewrite !andb_true_iff in Hc. destruct Hc as [[Ha Hb] Hw]. simpl.
    rewrite (IHa false ds env hs G Ha HG Hs), (IHb true ds env hs G Hb HG Hs). rewrite Rmult_1_l, <- Rmult_plus_distr_r. f_equal.
    change (ind cs env hs + ways_sum (ways b) env hs) with (ways_sum (ways (Br cs a b)) env hs).
    destruct further; auto. apply (covering_one I). auto.
  - destruct further; [|discriminate]. simpl. unfold ways_sum. simpl. ring.
Qed.
End Trees.
