(* Programs on records: which kinds of records there are, how far each moves what is released, and the check of a
   certificate of kind releases, in pure epsilon.  Numbers are in the units that the certificate gives them in. *)
From Coq Require Import QArith Qround List Bool ZArith.
From Dpaudit Require Import Law Tree Shifts Farkas.
Import ListNotations.
Open Scope Q_scope.

(* ---- records, and what may be asked of one ---- *)
Inductive point (N : Type) := NoValue | ANumber (x : N) | AText (t : positive) | ATruth (b : bool).
Arguments NoValue {N}. Arguments ANumber {N}. Arguments AText {N}. Arguments ATruth {N}.
Inductive operator := Less | LessEqual | Equal | IsMissing.
Record test := Test { asked : nat; operation : operator; operand : point Q }.
(* Numbers from low to high (None: without an end), or what is listed. *)
Record column := Column { lowest : option Q; highest : option Q; among : option (list (point Q)); missing : bool }.

Section Meets.
Context {N : Type}.
Variables less same : N -> Q -> bool.
Definition meets_by (p : point N) (t : test) : bool :=
  match operation t, p, operand t with
  | IsMissing, NoValue, _ => true
  | Equal, ANumber x, ANumber y => same x y
  | Equal, AText x, AText y => Pos.eqb x y
  | Equal, ATruth x, ATruth y => Bool.eqb x y
  | Less, ANumber x, ANumber y => less x y
  | LessEqual, ANumber x, ANumber y => less x y || same x y
  | _, _, _ => false
  end.
(* All answers of a record. *)
Definition answers_by (ts : list test) (r : list (point N)) : list bool := map (fun t => meets_by (nth (asked t) r NoValue) t) ts.
End Meets.
Definition lessQ (x y : Q) : bool := negb (Qle_bool y x).
Definition meetsQ := meets_by lessQ Qeq_bool.
Definition answersQ := answers_by lessQ Qeq_bool.

(* ---- kinds: points of every column such that each of its values answers as one of them does ---- *)
Definition listed_of {A} (o : option A) : list A := match o with None => [] | Some a => [a] end.
Definition marks (c : column) (ts : list test) : list Q :=
  listed_of (lowest c) ++ listed_of (highest c) ++
  flat_map (fun t => match operand t with ANumber x => [x] | _ => [] end) ts.
Fixpoint above (a : Q) (ms : list Q) : option Q :=
  match ms with
  | [] => None
  | m :: r => if Qle_bool m a then above a r
              else match above a r with None => Some m | Some b => if Qle_bool m b then Some m else Some b end
  end.
Definition around (ms : list Q) (a : Q) : list Q :=
  [a; Qred (a - 1); match above a ms with None => Qred (a + 1) | Some b => Qred ((a + b) * (1 # 2)) end].
Definition insideb (c : column) (x : Q) : bool :=
  match lowest c with None => true | Some l => Qle_bool l x end && match highest c with None => true | Some h => Qle_bool x h end.
Definition points_of (c : column) (ts : list test) : list (point Q) :=
  (if missing c then [NoValue] else []) ++
  match among c with
  | Some l => l
  | None => let ms := marks c ts in map ANumber (filter (insideb c) (0 :: flat_map (around ms) ms))
  end.
Fixpoint same_answers (a b : list bool) : bool :=
  match a, b with [], [] => true | x :: a', y :: b' => Bool.eqb x y && same_answers a' b' | _, _ => false end.
(* One point for each list of answers. *)
Fixpoint distinct (l : list (list bool * point Q)) : list (list bool * point Q) :=
  match l with
  | [] => []
  | p :: r => let d := distinct r in if existsb (fun p' => same_answers (fst p) (fst p')) d then d else p :: d
  end.
Definition own (ts : list test) (j : nat) : list test := filter (fun t => Nat.eqb (asked t) j) ts.
Definition kinds_of_column (c : column) (ts : list test) : list (point Q) :=
  map snd (distinct (map (fun p => (map (meetsQ p) ts, p)) (points_of c ts))).
Fixpoint kinds (cs : list column) (ts : list test) (j : nat) : list (list (point Q)) :=
  match cs with
  | [] => [[]]
  | c :: r => let rest := kinds r ts (S j) in flat_map (fun p => map (cons p) rest) (kinds_of_column c (own ts j))
  end.

(* ---- what a record of a kind adds, and how far it moves a number ---- *)
(* A record that answers so adds something from low to high. *)
Record term := Term { conditions : list (nat * bool); tlow : Q; thigh : Q }.
(* How a number moves: terms, and factors of what moves within others; Several only within Among. *)
Inductive bend := Abs | Clip | Among.
Inductive value :=
| Constant | Plus (t : term) (v : value) | Bent (b : bend) (factor : Q) (inner rest : value) | Several (v w : value).

Definition is_in (kind : list bool) (t : term) : bool :=
  forallb (fun c => Bool.eqb (nth (fst c) kind false) (snd c)) (conditions t).
(* What comes, and what goes. *)
Definition change : Type := list bool * option (list bool).
Definition in_change (t : term) (p : change) : bool * bool :=
  (is_in (fst p) t, match snd p with None => false | Some r => is_in r t end).

Definition qmax (a b : Q) : Q := if Qle_bool a b then b else a.
Definition qmin (a b : Q) : Q := if Qle_bool a b then a else b.
Definition times_factor (f : Q) (m : Q * Q) : Q * Q :=
  if Qle_bool 0 f then (Qred (f * fst m), Qred (f * snd m)) else (Qred (f * snd m), Qred (f * fst m)).
Definition both (m n : Q * Q) : Q * Q := (qadd (fst m) (fst n), qadd (snd m) (snd n)).
Definition moved_term (t : term) (p : change) : Q * Q :=
  let (comes, goes) := in_change t p in
  (qadd (if comes then tlow t else 0) (if goes then - thigh t else 0),
   qadd (if comes then thigh t else 0) (if goes then - tlow t else 0)).
Definition bent (b : bend) (m : Q * Q) : Q * Q :=
  match b with
  | Abs => let most := qmax (- fst m) (snd m) in (- most, most)
  | Clip => (qmin (fst m) 0, qmax (snd m) 0)
  | Among => m
  end.
Fixpoint moved (v : value) (p : change) : Q * Q :=
  match v with
  | Constant => (0, 0)
  | Plus t w => both (moved_term t p) (moved w p)
  | Bent b f inner rest => both (times_factor f (bent b (moved inner p))) (moved rest p)
  | Several a b => let m := moved a p in let n := moved b p in (qmin (fst m) (fst n), qmax (snd m) (snd n))
  end.

(* ---- prices ---- *)
(* Noise on each value; one of them, by chances exp(value/scale); a bit of each record, each flipped with a probability,
   and a number of which it is shown that the odds are at most its exponential. *)
Inductive release_law := Added (m : meth) | Choice | Reports (flips log_odds : Q).
(* What is released, so often where it stands; of all records, or of a sample. *)
Record release := NewRelease { rlaw : release_law; rscale : Q; rvalues : list value; rtimes : positive; rsample : option nat }.
Definition farthest (p : change) (v : value) : Q := let m := moved v p in qmax (- fst m) (snd m).
Definition hull_of (p : change) (vs : list value) : option (Q * Q) :=
  fold_right (fun v m => let n := moved v p in
    Some match m with None => n | Some m' => (qmin (fst n) (fst m'), qmax (snd n) (snd m')) end) None vs.
Definition loss (r : release) (p : change) : Q :=
  match rlaw r with
  | Added _ => fold_right (fun v s => qadd (farthest p v / rscale r) s) 0 (rvalues r)
  | Choice => match hull_of p (rvalues r) with None => 0 | Some m => Qred ((snd m - fst m) / rscale r) end
  | Reports _ l => fold_right (fun v s => qadd (farthest p v * l) s) 0 (rvalues r)
  end.
Definition price (r : release) (p : change) : Q := qmax 0 (loss r p).

(* ---- the check ---- *)
(* A sample has every record with a probability, its rate, and is drawn so often. *)
Record sample := NewSample { rate_of : Q; drawn : positive }.
Record releases_certificate := ReleasesCertificate {
  columns : list column; tests : list test; replaced : bool; groups : positive; rbound : Q;
  samples : list sample; releases : list release; paths : list (list nat) }.
Definition release_at (c : releases_certificate) (i : nat) : release := nth i (releases c) (NewRelease Choice 1 [] 1 None).
Definition sample_at (c : releases_certificate) (s : nat) : sample := nth s (samples c) (NewSample 1 1).
Definition times_of (c : releases_certificate) (i : nat) : Q := Zpos (rtimes (release_at c i)) # 1.

(* A path for one change: what it costs outside of samples, and what each draw of the sample s costs. *)
Definition is_outside (c : releases_certificate) (i : nat) : bool :=
  replaced c || match rsample (release_at c i) with None => true | Some _ => false end.
Definition outside (c : releases_certificate) (path : list nat) (p : change) : Q :=
  fold_right (fun i s => if is_outside c i then qadd (times_of c i * price (release_at c i) p) s else s) 0 path.
Definition inside (c : releases_certificate) (path : list nat) (p : change) : Q :=
  fold_right (fun i s => match rsample (release_at c i) with
    | Some k => if is_outside c i then s
                else qadd (times_of c i / (Zpos (drawn (sample_at c k)) # 1) * price (release_at c i) p) s
    | None => s end) 0 path.
(* The sample of a path, if all its samples are one. *)
Definition sample_of (c : releases_certificate) (path : list nat) : option nat :=
  fold_right (fun i s => match rsample (release_at c i) with Some k => Some k | None => s end) None path.
Definition one_sample (c : releases_certificate) (path : list nat) : bool :=
  replaced c ||
  forallb (fun i => match rsample (release_at c i), sample_of c path with Some k, Some s => Nat.eqb k s | Some _, None => false | None, _ => true end) path.

(* Below e^x, for every x: the first terms of its series, the last of them of an odd power, rounded on the safe side. *)
Definition small : positive := 1267650600228229401496703205376.   (* 2^100 *)
Definition rounded (up : bool) (x : Q) : Q :=
  if up then - Qfloor (- x * (Zpos small # 1)) # small else Qfloor (x * (Zpos small # 1)) # small.
Fixpoint series (up : bool) (x : Q) (k n : nat) : Q :=
  match n with
  | O => 1
  | S n' => rounded up (1 + x / (Z.of_nat k # 1) * series (if Qle_bool 0 x then up else negb up) x (S k) n')
  end.
Definition costly (x : Q) : Q := x.   (* the program counts steps where it stands *)
Definition below_exp (x : Q) : Q :=
  let y := rounded false (costly x) in
  if Qle_bool (-2) y && Qle_bool y 2 then series false y 1 37 else series false (costly y) 1 71.
(* Whether ln(1 + q (e^e - 1)) is at most l: (1 - q) e^-l + q e^(e - l) is at most 1. *)
Definition amplified (q e l : Q) : bool :=
  Qle_bool e l || let none := below_exp l in let all := below_exp (l - e) in
                  pos none && pos all && Qle_bool ((1 - q) / none + q / all) 1.
Definition spent_ok (c : releases_certificate) (path : list nat) (spent : Q * Q) : bool :=
  let left := Qred (rbound c / (Zpos (groups c) # 1) - fst spent) in
  Qle_bool 0 left && (Qle_bool (snd spent) 0 ||
    match sample_of c path with
    | None => false
    | Some s => let t := sample_at c s in amplified (rate_of t) (snd spent) (Qred (left / (Zpos (drawn t) # 1)))
    end).
(* The dearest of what is spent: each of the others is at most one of these, in both numbers. *)
Definition cheaper (a b : Q * Q) : bool := Qle_bool (fst a) (fst b) && Qle_bool (snd a) (snd b).
Fixpoint dearest (l : list (Q * Q)) : list (Q * Q) :=
  match l with
  | [] => []
  | a :: r => let d := dearest r in if existsb (cheaper a) d then d else a :: filter (fun b => negb (cheaper b a)) d
  end.

Definition kinds_of (c : releases_certificate) : list (list bool) := map (answersQ (tests c)) (kinds (columns c) (tests c) 0).
Definition changes (c : releases_certificate) (ks : list (list bool)) : list change :=
  if replaced c then flat_map (fun k => map (fun g => (k, Some g)) ks) ks else map (fun k => (k, None)) ks.
(* That the odds of a bit, either way, are at most e^l.  Where records come or go, so do their bits. *)
Definition odds_ok (p l : Q) : bool :=
  pos p && pos (1 - p) && let e := below_exp l in Qle_bool ((1 - p) / p) e && Qle_bool (p / (1 - p)) e.
Definition release_ok (c : releases_certificate) (r : release) : bool :=
  pos (rscale r) &&
  match rlaw r with Added Laplace | Added DLaplace | Choice => true | Reports p l => replaced c && odds_ok p l | _ => false end &&
  match rsample r with
  | None => true
  | Some s => Nat.ltb s (length (samples c)) && Z.eqb (Zpos (rtimes r) mod Zpos (drawn (sample_at c s))) 0
  end.
Definition sample_ok (s : sample) : bool := pos (rate_of s) && Qle_bool (rate_of s) 1.
Definition check_releases (c : releases_certificate) : bool :=
  Qle_bool 0 (rbound c) && forallb sample_ok (samples c) && forallb (release_ok c) (releases c) &&
  let ps := changes c (kinds_of c) in
  forallb (fun path =>
    forallb (fun i => Nat.ltb i (length (releases c))) path && one_sample c path &&
    forallb (spent_ok c path) (dearest (map (fun p => (outside c path p, inside c path p)) ps))) (paths c).
