(* The branch to the first of the largest expressions. *)
From Coq Require Import Reals QArith Qreals List Lra Lia Bool.
From Dpaudit Require Import Law Tree Shifts Farkas.
Import ListNotations.
Open Scope R_scope.

Definition lsub (a b : lin) : lin := laddm (-1) b a.
Lemma ev_lsub : forall a b env hs, ev (lsub a b) env hs = ev a env hs - ev b env hs.
Proof. intros. unfold lsub. rewrite ev_laddm. replace (Q2R (-1)) with (-1) by (unfold Q2R; simpl; field). ring. Qed.

(* e is above all of before and not below any of after. *)
Definition largest (before : list lin) (e : lin) (after : list lin) : list cond :=
  map (fun o => Cgt (lsub e o)) before ++ map (fun o => Cge (lsub e o)) after.
Fixpoint ways_of {L} (before : list lin) (es : list lin) (ts : list (tree L)) : tree L :=
  match es, ts with
  | e :: es', t :: ts' => Br (largest before e es') t (ways_of (before ++ [e]) es' ts')
  | _, _ => Nil
  end.
Definition argmax {L} (es : list lin) (ts : list (tree L)) : tree L := ways_of [] es ts.

(* That it is this: with e the first of the largest, the branch goes its way and no other. *)
Section Way.
Variable I : draw -> law.
Lemma ind_no : forall cs c env hs, In c cs -> ~ holds c env hs -> ind cs env hs = 0.
Proof.
  intros cs c env hs Hin Hn. destruct (ind_01 cs env hs) as [[_ Ha]|[Hi _]]; auto.
  exfalso. apply Hn. unfold all_hold in Ha. rewrite Forall_forall in Ha. auto.
Qed.
Lemma ind_yes : forall cs env hs, (forall c, In c cs -> holds c env hs) -> ind cs env hs = 1.
Proof.
  intros cs env hs H. destruct (ind_01 cs env hs) as [[Hi _]|[_ Hn]]; auto.
  exfalso. apply Hn. apply Forall_forall. auto.
Qed.

Lemma no_way : forall L es (ts : list (tree L)) before top env hs F, In top before ->
  (forall o, In o es -> ev o env hs <= ev top env hs) -> run I (ways_of before es ts) env hs F = 0.
Proof.
  induction es; intros ts before top env hs F Hin H; simpl; auto. destruct ts; auto. simpl.
  rewrite (ind_no _ (Cgt (lsub a top))).
  - rewrite (IHes ts (before ++ [a]) top); [ring|apply in_or_app; auto|intros; apply H; right; auto].
  - unfold largest. apply in_or_app. left. apply in_map_iff. exists top. auto.
  - simpl. rewrite ev_lsub. specialize (H a (or_introl eq_refl)). lra.
Qed.

Lemma one_way : forall L pre (ts : list (tree L)) before e post t env hs F,
  nth_error ts (length pre) = Some t ->
  (forall o, In o before -> ev o env hs < ev e env hs) -> (forall o, In o pre -> ev o env hs < ev e env hs) ->
  (forall o, In o post -> ev o env hs <= ev e env hs) ->
  run I (ways_of before (pre ++ e :: post) ts) env hs F = run I t env hs F.
Proof.
  induction pre; intros ts before e post t env hs F Ht Hb Hp Hq; destruct ts; try discriminate; simpl in *.
  - inversion Ht; subst. rewrite ind_yes.
    + rewrite (no_way L post ts (before ++ [e]) e); [ring|apply in_or_app; right; left; auto|auto].
    + intros c Hc. unfold largest in Hc. apply in_app_iff in Hc. destruct Hc as [Hc|Hc]; apply in_map_iff in Hc;
        destruct Hc as (o & <- & Ho); simpl; rewrite ev_lsub; [specialize (Hb o Ho)|specialize (Hq o Ho)]; lra.
  - rewrite (ind_no _ (Cge (lsub a e))).
    + rewrite (IHpre ts (before ++ [a]) e post t); auto; [ring|].
      intros o Ho. apply in_app_iff in Ho. destruct Ho as [Ho|[<-|[]]]; auto.
    + unfold largest. apply in_or_app. right. apply in_map_iff. exists e. split; auto. apply in_or_app. right. left. auto.
    + simpl. rewrite ev_lsub. specialize (Hp a (or_introl eq_refl)). lra.
Qed.

Theorem run_argmax : forall L pre e post (ts : list (tree L)) t env hs F,
  nth_error ts (length pre) = Some t ->
  (forall o, In o pre -> ev o env hs < ev e env hs) -> (forall o, In o post -> ev o env hs <= ev e env hs) ->
  run I (argmax (pre ++ e :: post) ts) env hs F = run I t env hs F.
Proof. intros. apply one_way; auto. intros o []. Qed.
End Way.
