(* What do trees, expressions and outputs say?  What every kind of certificate is made of. *)
open Checker

(* Which variables an expression may have: `data` gives the place of a query, of x or of a state; draws are h0, h1, ... *)
type known = { data : string -> int; draws : int }

let numbered letter most k =
  let l = String.length k in
  if l > 1 && l <= 7 && k.[0] = letter && Numbers.digits (String.sub k 1 (l - 1)) then
    let i = int_of_string (String.sub k 1 (l - 1)) in if i < most then Some i else None
  else None
let variable letter most k = match numbered letter most k with
  | Some i -> i | None -> Json.unreadable "there is no variable %s here" (Json.shown k)
let queries n = variable 'q' n
let states reals = variable 's' reals
let step reals k = if k = "x" then 0 else 1 + states reals k
let nothing k = Json.unreadable "there is no variable %s here" (Json.shown k)

let rec put l i v = match l, i with
  | [], 0 -> [v] | _ :: r, 0 -> v :: r | [], _ -> Numbers.zero :: put [] (i - 1) v | x :: r, _ -> x :: put r (i - 1) v
let expression known = function
  | Json.Object l -> List.fold_left (fun e (k, v) ->
      let v = Numbers.rational v in
      if v.qnum = Z0 then Json.unreadable "zero coefficients are left out";
      if k = "1" then { e with lc = v } else match numbered 'h' known.draws k with
        | Some i -> Steps.spend (i + 1); { e with lh = put e.lh i v }
        | None -> let i = known.data k in Steps.spend (i + 1); { e with le = put e.le i v })
      { lc = Numbers.zero; le = []; lh = [] } l
  | _ -> Json.unreadable "an expression is an object"
let varies e = e.le <> [] || e.lh <> []

(* The expressions with variables of an output.  All else of it is discrete, and leaves are told apart by a number of
   their own, which says more than the output. *)
let rec released level known o =
  Steps.spend 1;
  if level > 20 then Json.unreadable "an output of more than 20 levels";
  let deeper = List.concat_map (released (level + 1) known) in
  match o with
  | Json.List [Text ("int" | "float"); Object _ as e] -> let e = expression known e in if varies e then [e] else []
  | List [Text "float"; Text ("nan" | "inf" | "-inf")] | List [Text "bool"; Bool _]
  | List [Text ("str" | "exception"); Text _] | List [Text "none"] -> []
  | List (Text ("list" | "tuple") :: l) -> deeper l
  | List (Text "dict" :: l) -> List.concat_map (function Json.List [k; v] -> deeper [k; v] | _ -> Json.unreadable "no pair of a dict") l
  | _ -> Json.unreadable "no output"

(* An output without its expressions that have variables. *)
let rec discrete = function
  | Json.List [Text ("int" | "float" as name); Object l] when List.exists (fun (k, _) -> k <> "1") l -> Json.List [Text name]
  | List l -> List (List.map discrete l)
  | o -> o

let methods =
  ["laplace", Laplace; "exponential", Exponential; "gumbel", Gumbel; "uniform", Uniform; "discrete_laplace", DLaplace]
let vector conditions j = List.map (fun p -> match Json.list p with
    | [i; m] -> (Numbers.nat (Numbers.whole conditions i), Numbers.rational m)
    | _ -> Json.unreadable "no vector") (Json.list j)

(* Where a leaf stands: its number, that of the conditions above it, and what it knows. *)
type place = { number : int; label : nat; conditions : int; known : known }
let last_label = ref O
let most_conditions = 2_000   (* on one path *)

(* A tree from its nodes.  Node 0 is the root; a node names later ones, and every other node is named exactly once. *)
let tree data leaf given =
  let nodes = Array.of_list (Json.list given) in
  let many = Array.length nodes in
  if many = 0 || many > 100_000 then Json.unreadable "a tree has 1 to 100,000 nodes";
  let used = Array.make many false in
  let rec at parent draws conditions j =
    let i = Numbers.whole (many - 1) j in
    if i <= parent || used.(i) then Json.unreadable "node %d is no later node that is free" i;
    used.(i) <- true;
    if conditions > most_conditions || draws > most_conditions then
      Json.uncovered "a path has more than %d conditions or draws" most_conditions;
    let n = nodes.(i) and known = { data; draws } in
    let on more j = at i draws (conditions + more) j in
    if Json.has n "draw" then begin
      Json.fields n ["draw"; "scale"; "then"];
      let dm = try List.assoc (Json.text (Json.get n "draw")) methods with Not_found -> Json.unreadable "no such draw" in
      Draw ({ dm; db = Numbers.rational (Json.get n "scale") }, at i (draws + 1) conditions (Json.get n "then"))
    end else if Json.has n "compare" then begin
      let e = expression known (Json.get n "compare") in
      if not (varies e) then Json.unreadable "a comparison has at least one variable";
      let ways w = Json.fields n ("compare" :: w); List.map (fun k -> on 1 (Json.get n k)) w in
      if Json.has n "=" then match ways ["<"; "="; ">"] with [a; b; c] -> compare3 e a b c | _ -> assert false
      else if Json.has n ">=" then match ways ["<"; ">="] with [a; b] -> compare_lt e a b | _ -> assert false
      else match ways ["<="; ">"] with [a; b] -> compare_le e a b | _ -> assert false
    end else if Json.has n "argmax" then begin
      Json.fields n ["argmax"; "then"];
      let es = List.map (expression known) (Json.list (Json.get n "argmax")) and ways = Json.list (Json.get n "then") in
      let l = List.length es in
      if l < 2 || l <> List.length ways then Json.unreadable "an argmax has a way for each of at least two";
      Steps.spend_product (l * l) (draws + 1);
      let ways = List.map (on (l - 1)) ways in
      argmax es ways
    end else begin
      last_label := S !last_label;
      Steps.spend_product (conditions + 1) (conditions + draws + 1);
      Steps.spend_product (draws + 1) (draws + 1);
      Leaf (leaf { number = i; label = !last_label; conditions = conditions + 2 * draws; known } n)
    end in
  let t = at (-1) 0 0 (Json.Number "0") in
  if Array.exists not used then Json.unreadable "a node is not reached";
  t

let rec has_discrete = function
  | Leaf _ | Nil -> false
  | Draw (d, t) -> d.dm = DLaplace || has_discrete t
  | Br (_, a, b) -> has_discrete a || has_discrete b
