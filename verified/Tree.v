(* Programs as trees of draws and branches, what they do, and the alignment theorem. *)
From Coq Require Import Reals QArith Qreals List Lra Lia Bool FunctionalExtensionality.
From Dpaudit Require Import Law.
Import ListNotations.
Open Scope R_scope.

(* ---- linear expressions over data and states (le) and draws (lh), with rational coefficients ---- *)
Record lin := Lin { lc : Q; le : list Q; lh : list Q }.

Fixpoint dot (q : list Q) (x : list R) : R :=
  match q, x with a :: q', b :: x' => Q2R a * b + dot q' x' | _, _ => 0 end.
Definition rate (e : lin) (de dh : list R) : R := dot (le e) de + dot (lh e) dh.
Definition ev (e : lin) (env hs : list R) : R := Q2R (lc e) + rate e env hs.

Fixpoint vadd (x y : list R) : list R :=
  match x, y with a :: x', b :: y' => (a + b) :: vadd x' y' | _, _ => [] end.

Lemma vadd_length : forall x y, length x = length y -> length (vadd x y) = length x.
Proof. induction x; destruct y; simpl; intros; auto; discriminate. Qed.

Lemma dot_vadd : forall q x y, length x = length y -> dot q (vadd x y) = dot q x + dot q y.
Proof.
  induction q; intros x y H; simpl; [lra|].
  destruct x, y; simpl in *; try discriminate; try lra.
  rewrite IHq by lia. ring.
Qed.

Lemma dot_app : forall q x y, (length q <= length x)%nat -> dot q (x ++ y) = dot q x.
Proof.
  induction q; intros x y H; simpl; [reflexivity|].
  destruct x; simpl in *; [lia|]. rewrite IHq by lia. reflexivity.
Qed.

Lemma dot_at : forall q pre d d' post,
  dot q (pre ++ d :: post) = dot q (pre ++ d' :: post) + Q2R (nth (length pre) q 0%Q) * (d - d').
Proof.
  induction q; intros pre d d' post.
  - destruct pre; simpl; rewrite RMicromega.Q2R_0; ring.
  - destruct pre; simpl; [ring|]. rewrite (IHq pre d d' post). ring.
Qed.

Lemma ev_vadd : forall e env hs de dh, length env = length de -> length hs = length dh ->
  ev e (vadd env de) (vadd hs dh) = ev e env hs + rate e de dh.
Proof. intros. unfold ev, rate. rewrite !dot_vadd by auto. ring. Qed.

(* ---- conditions ---- *)
Inductive cond := Cgt (e : lin) | Cge (e : lin) | Ceq (e : lin).
Definition lin_of c := match c with Cgt e => e | Cge e => e | Ceq e => e end.
Definition holds (c : cond) (env hs : list R) : Prop :=
  match c with Cgt e => 0 < ev e env hs | Cge e => 0 <= ev e env hs | Ceq e => ev e env hs = 0 end.
Definition holds_dec c env hs : {holds c env hs} + {~ holds c env hs}.
Proof.
  destruct c; simpl; [apply Rlt_dec | apply Rle_dec | apply Req_EM_T].
Defined.
Definition all_hold cs env hs := Forall (fun c => holds c env hs) cs.

Fixpoint ind (cs : list cond) env hs : R :=
  match cs with [] => 1 | c :: cs' => if holds_dec c env hs then ind cs' env hs else 0 end.

Lemma ind_01 : forall cs env hs, ind cs env hs = 1 /\ all_hold cs env hs \/ ind cs env hs = 0 /\ ~ all_hold cs env hs.
Proof.
  induction cs; intros; simpl.
  - left; split; auto; constructor.
  - destruct (holds_dec a env hs).
    + destruct (IHcs env hs) as [[H1 H2]|[H1 H2]]; [left|right]; split; auto.
      * constructor; auto.
      * intro H; inversion H; subst; auto.
    + right; split; auto. intro H; inversion H; subst; auto.
Qed.

Lemma ind_range : forall cs env hs, 0 <= ind cs env hs <= 1.
Proof. intros; destruct (ind_01 cs env hs) as [[H _]|[H _]]; rewrite H; lra. Qed.

Lemma ind_app : forall a b env hs, ind (a ++ b) env hs = ind a env hs * ind b env hs.
Proof. induction a; intros; simpl; [lra|]. destruct (holds_dec a env hs); [apply IHa|lra]. Qed.

Definition wf_cond n c := (length (lh (lin_of c)) <= n)%nat.
Lemma holds_app : forall c env hs r, wf_cond (length hs) c -> holds c env (hs ++ r) <-> holds c env hs.
Proof.
  intros c env hs r H. assert (Hq : ev (lin_of c) env (hs ++ r) = ev (lin_of c) env hs).
  { unfold ev, rate. rewrite dot_app by exact H. reflexivity. }
  destruct c; simpl in *; rewrite Hq; reflexivity.
Qed.
Lemma ind_prefix : forall cs env hs r, Forall (wf_cond (length hs)) cs -> ind cs env (hs ++ r) = ind cs env hs.
Proof.
  induction cs; intros; simpl; auto. inversion H; subst.
  destruct (holds_dec a env (hs ++ r)), (holds_dec a env hs); auto.
  - exfalso; apply n; apply (holds_app a env hs r H2); auto.
  - exfalso; apply n; apply (holds_app a env hs r H2); auto.
Qed.

(* ---- draws and programs ---- *)
Inductive meth := Laplace | Exponential | Gumbel | Uniform | DLaplace.
Record draw := Dr { dm : meth; db : Q }.

(* A branch is a list of ways, as Br ways and Nil; see compare_lt and the rest for what the format calls compare. *)
Inductive tree (L : Type) :=
| Leaf (l : L) | Draw (d : draw) (t : tree L) | Br (cs : list cond) (a b : tree L) | Nil.
Arguments Leaf {L}. Arguments Draw {L}. Arguments Br {L}. Arguments Nil {L}.

Fixpoint wf {L} (t : tree L) (n : nat) : Prop :=
  match t with
  | Leaf _ => True | Nil => True
  | Draw _ t' => wf t' (S n)
  | Br cs a b => Forall (wf_cond n) cs /\ wf a n /\ wf b n
  end.

Section Semantics.
Variable I : draw -> law.   (* what each kind of noise is *)

Fixpoint integ (ds : list draw) (k : list R -> R) : R :=
  match ds with [] => k [] | d :: ds' => E (I d) (fun h => integ ds' (fun r => k (h :: r))) end.

(* The expectation of F at the leaf that a run reaches. *)
Fixpoint run {L} (t : tree L) (env hs : list R) (F : L -> list R -> R) : R :=
  match t with
  | Leaf l => F l hs
  | Draw d t' => E (I d) (fun h => run t' env (hs ++ [h]) F)
  | Br cs a b => ind cs env hs * run a env hs F + run b env hs F
  | Nil => 0
  end.

Definition insupp ds r := Forall2 (fun d x => supp (I d) x) ds r.

Lemma integ_range : forall ds k B, (forall r, 0 <= k r <= B) -> 0 <= integ ds k <= B.
Proof.
  induction ds; intros k B H; simpl; [apply H|].
  apply E_range. intros. apply IHds. intros. apply H.
Qed.

Lemma integ_bounded : forall A ds (k : A -> list R -> R) B, (forall a r, 0 <= k a r <= B) -> bounded (fun a => integ ds (k a)).
Proof. intros. exists B. intros. apply integ_range. intros. apply H. Qed.

Lemma integ_mono : forall ds k k' B B', (forall r, 0 <= k r <= B) -> (forall r, 0 <= k' r <= B') ->
  (forall r, insupp ds r -> k r <= k' r) -> integ ds k <= integ ds k'.
Proof.
  induction ds; intros k k' B B' H H' Hle; simpl.
  - apply Hle. constructor.
  - apply E_mono.
    + apply (integ_bounded R ds (fun h r => k (h :: r)) B). intros; apply H.
    + apply (integ_bounded R ds (fun h r => k' (h :: r)) B'). intros; apply H'.
    + intros x Hx. apply (IHds _ _ B B'); auto. intros r Hr. apply Hle. constructor; auto.
Qed.

Lemma integ_scale : forall ds k B c, 0 <= c -> (forall r, 0 <= k r <= B) -> integ ds (fun r => c * k r) = c * integ ds k.
Proof.
  induction ds; intros k B c Hc H; simpl; auto.
  rewrite <- E_scale; auto.
  - f_equal. extensionality h. apply (IHds _ B); auto.
  - apply (integ_bounded R ds (fun h r => k (h :: r)) B). intros; apply H.
Qed.

(* ---- shifting the draws of a path ---- *)
Fixpoint shiftable (ds : list draw) (dv : list R) (c : R) : Prop :=
  match ds, dv with
  | [], [] => c = 0
  | d :: ds', x :: dv' => exists c1 c2, c = c1 + c2 /\ shift_ok (I d) x c1 /\ shiftable ds' dv' c2
  | _, _ => False
  end.

Lemma shiftable_length : forall ds dv c, shiftable ds dv c -> length dv = length ds.
Proof.
  induction ds; destruct dv; simpl; intros c H; auto; try contradiction.
  destruct H as (c1 & c2 & _ & _ & H). f_equal. eapply IHds; eauto.
Qed.

Lemma integ_shift : forall ds dv c k B, shiftable ds dv c -> (forall r, 0 <= k r <= B) ->
  integ ds (fun r => k (vadd r dv)) <= exp c * integ ds k.
Proof.
  induction ds; intros dv c k B Hs H; destruct dv; simpl in *; try contradiction.
  - subst. rewrite exp_0. lra.
  - destruct Hs as (c1 & c2 & -> & H1 & H2).
    set (G := fun x => integ ds (fun q => k (x :: q))).
    assert (HG : bounded G) by (apply (integ_bounded R ds (fun h q => k (h :: q)) B); intros; apply H).
    apply Rle_trans with (E (I a) (fun h => exp c2 * G (h + r))).
    + apply E_mono.
      * apply (integ_bounded R ds (fun h q => k (h + r :: vadd q dv)) B). intros; apply H.
      * apply bounded_scale; [left; apply exp_pos|]. apply (bounded_comp _ _ G (fun h => h + r)). auto.
      * intros x _. unfold G. apply (IHds dv c2 (fun q => k (x + r :: q)) B); auto.
    + rewrite E_scale; [|left; apply exp_pos|apply (bounded_comp _ _ G (fun h => h + r)); auto].
      rewrite exp_plus. replace (exp c1 * exp c2 * E (I a) G) with (exp c2 * (exp c1 * E (I a) G)) by ring.
      apply Rmult_le_compat_l; [left; apply exp_pos|]. apply H1. auto.
Qed.

(* ---- a run is the sum over its leaves ---- *)
Fixpoint leaves {L} (t : tree L) : list (list draw * list cond * L) :=
  match t with
  | Leaf l => [([], [], l)]
  | Draw d t' => map (fun '(ds, cs, l) => (d :: ds, cs, l)) (leaves t')
  | Br cs a b => map (fun '(ds, c, l) => (ds, cs ++ c, l)) (leaves a) ++ leaves b
  | Nil => []
  end.

Fixpoint lsum {A} (g : A -> R) (l : list A) : R := match l with [] => 0 | a :: l' => g a + lsum g l' end.

Lemma lsum_app : forall A (g : A -> R) a b, lsum g (a ++ b) = lsum g a + lsum g b.
Proof. induction a; intros; simpl; [lra|]. rewrite IHa. lra. Qed.
Lemma lsum_map : forall A B (h : A -> B) (g : B -> R) l, lsum g (map h l) = lsum (fun a => g (h a)) l.
Proof. induction l; simpl; congruence. Qed.
Lemma lsum_scale : forall A (g : A -> R) c l, c * lsum g l = lsum (fun a => c * g a) l.
Proof. induction l; simpl; [lra|]. rewrite <- IHl. ring. Qed.
Lemma lsum_le : forall A (g h : A -> R) l, (forall a, In a l -> g a <= h a) -> lsum g l <= lsum h l.
Proof.
  induction l; simpl; intros; [lra|]. apply Rplus_le_compat; [apply H; auto|apply IHl; intros; apply H; auto].
Qed.
Lemma lsum_ext : forall A (g h : A -> R) l, (forall a, In a l -> g a = h a) -> lsum g l = lsum h l.
Proof. intros. apply Rle_antisym; apply lsum_le; intros; rewrite (H a H0); lra. Qed.
Lemma lsum_pos : forall A (g : A -> R) l, (forall a, In a l -> 0 <= g a) -> 0 <= lsum g l.
Proof. induction l; simpl; intros; [lra|]. apply Rplus_le_le_0_compat; auto. Qed.
Lemma lsum_bounded : forall A (g : R -> A -> R) l, (forall a, bounded (fun h => g h a)) -> bounded (fun h => lsum (g h) l).
Proof. induction l; simpl; intros; [apply bounded_const; lra|]. apply bounded_add; auto. Qed.
Lemma E_lsum : forall A L (g : R -> A -> R) l, (forall a, bounded (fun h => g h a)) ->
  E L (fun h => lsum (g h) l) = lsum (fun a => E L (fun h => g h a)) l.
Proof.
  induction l; simpl; intros; [apply E_const; lra|].
  rewrite E_add; auto. 2: apply lsum_bounded; auto. rewrite IHl; auto.
Qed.

Definition term {L} (env hs : list R) (F : L -> list R -> R) (p : list draw * list cond * L) : R :=
  let '(ds, cs, l) := p in integ ds (fun r => ind cs env (hs ++ r) * F l (hs ++ r)).

Lemma ind_mult_range : forall cs env hs x B, 0 <= x <= B -> 0 <= ind cs env hs * x <= B.
Proof.
  intros cs env hs x B H. pose proof (ind_range cs env hs). split.
  - apply Rmult_le_pos; lra.
  - apply Rle_trans with (1 * x); [apply Rmult_le_compat_r; lra|lra].
Qed.

Lemma decompose : forall L (t : tree L) env hs F B, (forall l r, 0 <= F l r <= B) -> wf t (length hs) ->
  run t env hs F = lsum (term env hs F) (leaves t).
Proof.
  intros L t; induction t; intros env hs F B HF Hw; simpl.
  - rewrite app_nil_r. lra.
  - rewrite lsum_map.
    transitivity (E (I d) (fun h => lsum (term env (hs ++ [h]) F) (leaves t))).
    + f_equal. extensionality h. apply (IHt env (hs ++ [h]) F B); auto.
      rewrite app_length; simpl. rewrite Nat.add_1_r. auto.
    + rewrite (E_lsum _ _ (fun h => term env (hs ++ [h]) F)).
      * f_equal. extensionality p. destruct p as [[ds cs] l]. simpl.
        f_equal. extensionality h. f_equal. extensionality r. rewrite <- app_assoc. reflexivity.
      * intros [[ds cs] l]. simpl.
        apply (integ_bounded R ds (fun h r => ind cs env ((hs ++ [h]) ++ r) * F l ((hs ++ [h]) ++ r)) B).
        intros. apply ind_mult_range. apply HF.
  - destruct Hw as (Hc & Ha & Hb).
    rewrite lsum_app, lsum_map. rewrite <- (IHt2 env hs F B HF Hb). f_equal.
    rewrite (IHt1 env hs F B HF Ha). rewrite lsum_scale. f_equal. extensionality p.
    destruct p as [[ds c] l]. simpl.
    rewrite <- (integ_scale ds _ B); [|apply ind_range|intros; apply ind_mult_range; apply HF].
    f_equal. extensionality r. rewrite ind_app. rewrite (ind_prefix cs) by auto. ring.
  - reflexivity.
Qed.

Fixpoint wt {L} (t : tree L) : R :=
  match t with Leaf _ => 1 | Draw _ t' => wt t' | Br _ a b => wt a + wt b | Nil => 0 end.
Lemma wt_pos : forall L (t : tree L), 0 <= wt t.
Proof. induction t; simpl; lra. Qed.
Lemma run_range : forall L (t : tree L) env hs F B, (forall l r, 0 <= F l r <= B) -> 0 <= run t env hs F <= wt t * B.
Proof.
  induction t; intros env hs F B H; simpl.
  - specialize (H l hs). lra.
  - apply E_range. intros. apply IHt; auto.
  - specialize (IHt1 env hs F B H). specialize (IHt2 env hs F B H).
    pose proof (ind_mult_range cs env hs (run t1 env hs F) _ IHt1). lra.
  - lra.
Qed.

(* ---- the alignment theorem ---- *)
Theorem align : forall L (t : tree L) env env' F F' B B' V,
  (forall l r, 0 <= F l r <= B) -> (forall l r, 0 <= F' l r <= B') -> wf t 0 ->
  (forall p, In p (leaves t) -> term env [] F p <= exp V * term env' [] F' p) ->
  run t env [] F <= exp V * run t env' [] F'.
Proof.
  intros L t env env' F F' B B' V HF HF' Hw H.
  rewrite (decompose L t env [] F B) by auto. rewrite (decompose L t env' [] F' B') by auto.
  rewrite lsum_scale. apply lsum_le. auto.
Qed.

(* A leaf whose draws may be shifted so that its conditions are kept. *)
Lemma leaf_shift : forall L ds cs (l : L) env env' F F' B B' V c dv,
  (forall l r, 0 <= F l r <= B) -> (forall l r, 0 <= F' l r <= B') -> shiftable ds dv c ->
  (forall r, insupp ds r -> all_hold cs env r ->
     all_hold cs env' (vadd r dv) /\ F l r <= exp (V - c) * F' l (vadd r dv)) ->
  term env [] F (ds, cs, l) <= exp V * term env' [] F' (ds, cs, l).
Proof.
  intros L ds cs l env env' F F' B B' V c dv HF HF' Hs H. unfold term. simpl.
  set (k := fun r => ind cs env' r * F' l r).
  assert (Hk : forall r, 0 <= k r <= B') by (intros; apply ind_mult_range; apply HF').
  apply Rle_trans with (integ ds (fun r => exp (V - c) * k (vadd r dv))).
  - apply (integ_mono _ _ _ B (exp (V - c) * B')).
    + intros. apply ind_mult_range. apply HF.
    + intros. specialize (Hk (vadd r dv)). pose proof (exp_pos (V - c)). split.
      * apply Rmult_le_pos; lra.
      * apply Rmult_le_compat_l; lra.
    + intros r Hr. unfold k. destruct (ind_01 cs env r) as [[Hi Ha]|[Hi Ha]]; rewrite Hi.
      * destruct (H r Hr Ha) as [H1 H2].
        destruct (ind_01 cs env' (vadd r dv)) as [[Hj _]|[_ Hj]]; [|contradiction]. rewrite Hj. lra.
      * rewrite Rmult_0_l. apply Rmult_le_pos; [left; apply exp_pos|].
        apply ind_mult_range with (B := B'). apply HF'.
  - rewrite (integ_scale ds (fun r => k (vadd r dv)) B'); [|left; apply exp_pos|auto].
    replace (exp V) with (exp (V - c) * exp c) by (rewrite <- exp_plus; f_equal; ring).
    rewrite Rmult_assoc. apply Rmult_le_compat_l; [left; apply exp_pos|].
    apply (integ_shift ds dv c k B'); auto.
Qed.
End Semantics.

(* ---- what the format calls compare, and that it is a branch ---- *)
Definition lneg (e : lin) := Lin (- lc e) (map Qopp (le e)) (map Qopp (lh e)).
Lemma dot_neg : forall q x, dot (map Qopp q) x = - dot q x.
Proof. induction q; destruct x; simpl; try lra. rewrite IHq, Q2R_opp. ring. Qed.
Lemma ev_neg : forall e env hs, ev (lneg e) env hs = - ev e env hs.
Proof. intros. unfold ev, rate, lneg; simpl. rewrite !dot_neg, Q2R_opp. ring. Qed.

Definition compare_lt {L} e (a b : tree L) := Br [Cgt (lneg e)] a (Br [Cge e] b Nil).
Definition compare_le {L} e (a b : tree L) := Br [Cge (lneg e)] a (Br [Cgt e] b Nil).
Definition compare3 {L} e (a b c : tree L) := Br [Cgt (lneg e)] a (Br [Ceq e] b (Br [Cgt e] c Nil)).

Ltac branch := intros; unfold compare_lt, compare_le, compare3; simpl;
  repeat (destruct (holds_dec _ _ _) as [?H|?H]; simpl in *); rewrite ?ev_neg in *;
  repeat (destruct (Rlt_dec _ _) as [?H|?H]); repeat (destruct (Rle_dec _ _) as [?H|?H]);
  repeat (destruct (Req_EM_T _ _) as [?H|?H]); try lra.

Lemma run_compare_lt : forall I L e (a b : tree L) env hs F,
  run I (compare_lt e a b) env hs F = if Rlt_dec (ev e env hs) 0 then run I a env hs F else run I b env hs F.
Proof. branch. Qed.
Lemma run_compare_le : forall I L e (a b : tree L) env hs F,
  run I (compare_le e a b) env hs F = if Rle_dec (ev e env hs) 0 then run I a env hs F else run I b env hs F.
Proof. branch. Qed.
Lemma run_compare3 : forall I L e (a b c : tree L) env hs F,
  run I (compare3 e a b c) env hs F =
  if Rlt_dec (ev e env hs) 0 then run I a env hs F
  else if Rlt_dec 0 (ev e env hs) then run I c env hs F else run I b env hs F.
Proof. branch. Qed.
