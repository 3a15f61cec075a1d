(* Trees that read values in place of answers, such as |q0|: numbers that branches on the answers alone compute. *)
From Coq Require Import Reals QArith Qreals Qabs List Lra Lia Bool ZArith.
From Dpaudit Require Import Law Tree Shifts Farkas Argmax Tree_check.
Import ListNotations.
Open Scope R_scope.

Definition vector := list (nat * Q).
Record value_leaf := ValueLeaf { vid : nat; vexpr : lin; vdead : option vector }.
Definition vectors := list ((nat * nat) * vector).
Record slope := Slope { squery : nat; sslope : Q; sup : vectors; sdown : vectors }.
Record value := Value { vprogram : tree value_leaf; vpairs : vectors; vslopes : list slope }.
(* inner: the certificate of the tree that reads the values. *)
Record values_certificate := ValuesCertificate { vscope : tree_scope; vlength : nat; vsloped : bool; vvalues : list value; inner : tree_certificate }.

(* ---- what a value is ---- *)
Definition all_hold_dec cs q : {all_hold cs q []} + {~ all_hold cs q []} := Forall_dec _ (fun c => holds_dec c q []) cs.
Fixpoint pick (ls : list (list draw * list cond * value_leaf)) (q : list R) : option R :=
  match ls with
  | [] => None
  | (_, cs, l) :: ls' => if all_hold_dec cs q then Some (ev (vexpr l) q []) else pick ls' q
  end.
Definition is_value (v : value) (q : list R) (r : R) : Prop := pick (leaves (vprogram v)) q = Some r.

Lemma pick_in : forall ls q r, pick ls q = Some r ->
  exists ds cs l, In (ds, cs, l) ls /\ all_hold cs q [] /\ r = ev (vexpr l) q [].
Proof.
  induction ls as [|[[ds cs] l] ls IH]; simpl; intros q r H; [discriminate|].
  destruct (all_hold_dec cs q) as [Ha|Ha].
  - inversion H; subst. exists ds, cs, l. auto.
  - destruct (IH q r H) as (ds' & cs' & l' & H1 & H2 & H3). exists ds', cs', l'. auto.
Qed.

(* ---- expressions at the neighbour ---- *)
Definition pad (n : nat) (l : list Q) := l ++ repeat 0%Q (n - length l).
Definition shift_all n e := Lin (lc e) (pad n (le e) ++ le e) [].
Definition shift_one n j e := Lin (lc e) (pad n (le e) ++ [nth j (le e) 0%Q]) [].
Definition cmap (f : lin -> lin) (c : cond) := match c with Cgt e => Cgt (f e) | Cge e => Cge (f e) | Ceq e => Ceq (f e) end.
Definition small n (e : lin) := Nat.leb (length (le e)) n.

Lemma dot_app2 : forall a x b y, length a = length x -> dot (a ++ b) (x ++ y) = dot a x + dot b y.
Proof. induction a; destruct x; simpl; intros; try discriminate; [ring|]. rewrite IHa by lia. ring. Qed.
Lemma dot_zeros_r : forall l m x, dot (l ++ repeat 0%Q m) x = dot l x.
Proof.
  induction l; intros m x; simpl.
  - revert x. induction m; simpl; intros; auto. destruct x; auto. rewrite IHm, RMicromega.Q2R_0. ring.
  - destruct x; auto. rewrite IHl. auto.
Qed.
Lemma pad_length : forall n l, (length l <= n)%nat -> length (pad n l) = n.
Proof. intros. unfold pad. rewrite app_length, repeat_length. lia. Qed.
Lemma dot_pad : forall n l x, dot (pad n l) x = dot l x.
Proof. intros. apply dot_zeros_r. Qed.
Lemma dot_nil : forall q, dot q [] = 0.
Proof. destruct q; auto. Qed.
Lemma ev_nil : forall e q, ev e q [] = Q2R (lc e) + dot (le e) q.
Proof. intros. unfold ev, rate. rewrite dot_nil. ring. Qed.

Lemma ev_same : forall e q s, (length (le e) <= length q)%nat -> ev e (q ++ s) [] = ev e q [].
Proof. intros. rewrite !ev_nil, dot_app by auto. auto. Qed.
Lemma ev_all : forall n e q s, (length (le e) <= n)%nat -> length q = n -> length s = n ->
  ev (shift_all n e) (q ++ s) [] = ev e (vadd q s) [].
Proof.
  intros. rewrite !ev_nil. simpl. rewrite dot_app2 by (rewrite pad_length; congruence).
  rewrite dot_pad, dot_vadd by congruence. ring.
Qed.
Lemma ev_one : forall n e pre a post s, (length (le e) <= n)%nat -> length (pre ++ a :: post) = n ->
  ev (shift_one n (length pre) e) ((pre ++ a :: post) ++ [s]) [] = ev e (pre ++ (a + s) :: post) [].
Proof.
  intros. rewrite !ev_nil. simpl. rewrite dot_app2 by (rewrite pad_length; congruence).
  rewrite dot_pad. rewrite (dot_at _ pre (a + s) a). simpl. ring.
Qed.
Lemma holds_cmap : forall f c env env', ev (f (lin_of c)) env [] = ev (lin_of c) env' [] ->
  holds (cmap f c) env [] <-> holds c env' [].
Proof. intros. destruct c; simpl in *; rewrite H; reflexivity. Qed.

(* ---- the check of one pair of leaves ---- *)
Definition find_vector (vs : vectors) (i j : nat) : vector :=
  match find (fun p => Nat.eqb (fst (fst p)) i && Nat.eqb (snd (fst p)) j) vs with Some p => snd p | None => [] end.
Definition plus_constant (e : lin) (q : Q) := Lin (qadd (lc e) q) (le e) (lh e).
Definition axis (m : nat) (a c : Q) := Lin c (repeat 0%Q m ++ [a]) [].
Definition vbox n (k : Q) := flat_map (fun j => [Cge (axis (n + j) 1 k); Cge (axis (n + j) (-1) k)]) (seq 0 n).

Definition pair_ok n k (v : value) (a b : list draw * list cond * value_leaf) : bool :=
  let '(_, ca, la) := a in let '(_, cb, lb) := b in
  match vdead la, vdead lb with
  | None, None => farkas (ca ++ map (cmap (shift_all n)) cb ++ vbox n k ++
      [Cgt (plus_constant (lsub (shift_all n (vexpr lb)) (vexpr la)) (-1))]) (find_vector (vpairs v) (vid la) (vid lb))
  | _, _ => true
  end.
Definition step_up n j (s : slope) (a b : list draw * list cond * value_leaf) : bool :=
  let '(_, ca, la) := a in let '(_, cb, lb) := b in
  match vdead la, vdead lb with
  | None, None =>
      let d := lsub (shift_one n j (vexpr lb)) (vexpr la) in
      let known := ca ++ map (cmap (shift_one n j)) cb ++ [Cge (axis n 1 0)] in
      farkas (known ++ [Cgt (lsub d (axis n (sslope s) 0))]) (find_vector (sup s) (vid la) (vid lb)) &&
      farkas (known ++ [Cgt (lsub (lneg d) (axis n (sslope s) 0))]) (find_vector (sdown s) (vid la) (vid lb))
  | _, _ => true
  end.
Definition free_of j (p : list draw * list cond * value_leaf) : bool :=
  let '(_, cs, l) := p in forallb (fun c => Qeq_bool (coef j (lin_of c)) 0) cs && Qeq_bool (coef j (vexpr l)) 0.
Definition slope_of (v : value) (j : nat) : option slope := find (fun s => Nat.eqb (squery s) j) (vslopes v).
Definition sigma (v : value) (j : nat) : Q := match slope_of v j with Some s => sslope s | None => 0%Q end.
Definition pairs_of {A} (l : list A) := list_prod l l.
Definition slope_ok n (v : value) (j : nat) : bool :=
  let ls := leaves (vprogram v) in
  match slope_of v j with
  | Some s => Qle_bool 0 (sslope s) && forallb (fun p => step_up n j s (fst p) (snd p)) (pairs_of ls)
  | None => forallb (free_of j) ls
  end.
Definition value_form n (v : value) : bool :=
  forallb (fun p => let '(ds, cs, l) := p in
    match ds with [] => true | _ => false end && forallb (fun c => small n (lin_of c)) cs && small n (vexpr l) &&
    match vdead l with Some w => farkas cs w | None => true end) (leaves (vprogram v)).
Fixpoint qsum (l : list Q) : Q := match l with [] => 0%Q | x :: l' => qadd x (qsum l') end.
Definition steps_in (s : tree_scope) : nat := match s with TAll k | TMonotone k | TSum k => k end.
Definition check_values (c : values_certificate) : bool :=
  let n := vlength c in
  check_tree (inner c) && negb (tintegers (inner c)) && Nat.eqb (tlength (inner c)) (length (vvalues c)) &&
  forallb (value_form n) (vvalues c) &&
  if vsloped c then
    match vscope c, tscope (inner c) with
    | TSum k, TSum k' => Nat.eqb k k' && forallb (fun j => forallb (fun v => slope_ok n v j) (vvalues c) &&
        Qle_bool (qsum (map (fun v => sigma v j) (vvalues c))) 1) (seq 0 n)
    | _, _ => false
    end
  else match tscope (inner c) with
    | TAll 1 => forallb (fun v => forallb (fun p => pair_ok n (inject_Z (Z.of_nat (steps_in (vscope c)))) v (fst p) (snd p))
        (pairs_of (leaves (vprogram v)))) (vvalues c)
    | _ => false
    end.

