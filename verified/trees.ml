(* From JSON to a certificate of kind tree, with values or without. *)
open Checker

let most_written_out = 20_000   (* shifts of parts, and whole-number points of a sum *)
let most_value_leaves = 30
let most_class_conditions = 20_000   (* that a vector of a class counts *)

let shift_of e difference shift =
  Json.fields e ["difference"; "shift"];
  let numbers k = List.map Numbers.rational (Json.list (Json.get e k)) in
  (difference (numbers "difference"), shift (numbers "shift"))

(* Shifts by parts are written out here; what they are written out to is checked. *)
let rec combinations = function
  | [] -> [[]]
  | l :: rest -> let r = combinations rest in List.concat_map (fun x -> List.map (fun y -> x :: y) r) l
let expand summed length draws parts =
  let part p =
    Json.fields p ["queries"; "draws"; "shifts"];
    let places most k = List.map (Numbers.whole (most - 1)) (Json.list (Json.get p k)) in
    let qs = places length "queries" and hs = places draws "draws" in
    let paired places numbers =
      if List.length places <> List.length numbers then Json.unreadable "a shift of a part is about its queries and draws";
      List.combine places numbers in
    List.map (fun e -> shift_of e (paired qs) (paired hs)) (Json.list (Json.get p "shifts")) in
  let whole chosen =
    Steps.spend (length + draws);
    let d = Array.make length Numbers.zero and s = Array.make draws Numbers.zero in
    List.iter (fun (a, b) ->
        List.iter (fun (i, v) -> d.(i) <- v) a;
        List.iter (fun (i, v) -> s.(i) <- Numbers.add s.(i) v) b) chosen;
    { tdiff = Array.to_list d; tshift = Array.to_list s } in
  let parts = List.map part parts in
  if summed then List.concat_map (List.map (fun e -> whole [e])) parts
  else begin
    if List.fold_left (fun n p -> min 100_000 (n * List.length p)) 1 parts > most_written_out then
      Json.uncovered "parts of more than %d shifts together" most_written_out;
    List.map whole (combinations parts)
  end

(* Of a merged class: its text, which leaves it names, with vectors, and the leaf that was read first. *)
type named = { json : Json.t; inside : (int, Json.t) Hashtbl.t; apart : (int, Json.t) Hashtbl.t;
               mutable first : (Json.t * tree_leaf * int) option }
let named_leaves j field =
  let found = Hashtbl.create 16 in
  List.iter (fun e ->
      Json.fields e ["leaf"; field];
      let leaf = Numbers.whole 99_999 (Json.get e "leaf") in
      if Hashtbl.mem found leaf then Json.unreadable "leaf %d of a class is listed twice" leaf;
      Hashtbl.add found leaf (Json.get e field)) (Json.list j);
  found
let named j =
  Json.fields j ["hull"; "inside"; "apart"; (if Json.has j "parts" then "parts" else "shifts")];
  { json = j; inside = named_leaves (Json.get j "inside") "reasons"; apart = named_leaves (Json.get j "apart") "reason"; first = None }
let taken table leaf =
  let v = Hashtbl.find_opt table leaf in
  Hashtbl.remove table leaf; v

let aligned summed length draws n =
  if Json.has n "parts" then expand summed length draws (Json.list (Json.get n "parts"))
  else List.map (fun e -> let tdiff, tshift = shift_of e Fun.id Fun.id in { tdiff; tshift }) (Json.list (Json.get n "shifts"))

let leaf summed length classes (place : Reading.place) n =
  let none = { tlabel = place.label; treleased = []; tshifts = []; tdead = None; tclass = None; tinside = []; tapart = [] } in
  (* the worst differences are told from rows, each query of each row *)
  let spend rows shifts = Steps.spend_product (rows + 1) (length * (1 + shifts / 8)) in
  if Json.has n "dead" then begin
    Json.fields n ["dead"];
    { none with tdead = Some (Reading.vector place.conditions (Json.get n "dead")) }
  end else begin
    let output = Json.get n "leaf" in
    let treleased = Reading.released 1 place.known output in
    let own = if Json.has n "class" then Some (Numbers.whole (Array.length classes - 1) (Json.get n "class")) else None in
    let tapart = ref [] in
    Array.iteri (fun k c ->
        if own <> Some k then Option.iter (fun v -> tapart := (Numbers.nat k, Reading.vector most_class_conditions v) :: !tapart)
            (taken c.apart place.number)) classes;
    let l = { none with treleased; tapart = !tapart } in
    Steps.spend_product (List.length !tapart) (20 * (place.conditions + 5));   (* each vector writes all conditions out *)
    match own with
    | Some k ->
        Json.fields n ["leaf"; "class"];
        let c = classes.(k) in
        let tinside = match taken c.inside place.number with
          | None -> Json.unreadable "leaf %d is not listed inside of its class" place.number
          | Some j -> List.map (Reading.vector most_class_conditions) (Json.list j) in
        Steps.spend_product (List.length tinside + 1) (20 * (place.conditions + 5));
        (* leaves of a class return the same, and so have one label *)
        let tlabel = match c.first with
          | None -> c.first <- Some (output, l, place.known.draws); l.tlabel
          | Some (o, first, _) ->
              if Reading.discrete o <> Reading.discrete output then Json.unreadable "leaves of a class return the same";
              first.tlabel in
        { l with tlabel; tclass = Some (Numbers.nat k); tinside }
    | None when Json.has n "parts" || Json.has n "shifts" ->
        Json.fields n ["leaf"; (if Json.has n "parts" then "parts" else "shifts")];
        let tshifts = aligned summed length place.known.draws n in
        spend (place.conditions + List.length treleased) (List.length tshifts);
        { l with tshifts }
    | None -> Json.fields n ["leaf"]; spend (place.conditions + List.length treleased) 0; l
  end

let merged summed length program k c =
  match c.first with
  | None -> Json.unreadable "no leaf belongs to class %d" k
  | Some (_, first, draws) ->
      let known = { Reading.data = Reading.queries length; draws } in
      let hull = List.map (function
          | Json.List [e; Text ">"] -> Cgt (Reading.expression known e)
          | List [e; Text ">="] -> Cge (Reading.expression known e)
          | _ -> Json.unreadable "no condition of a hull") (Json.list (Json.get c.json "hull")) in
      if Hashtbl.length c.inside + Hashtbl.length c.apart > 0 then Json.unreadable "class %d lists what is no leaf there" k;
      let tshifts = aligned summed length draws c.json in
      let leaves = leaves program and n = List.length hull in
      Steps.spend_product (List.length leaves + 1) (50 + 10 * draws + k);
      Steps.spend_product (n + 1) (length * (1 + List.length tshifts / 8));
      let own = List.filter (fun (_, l) -> l.tclass = Some (Numbers.nat k)) leaves in
      Steps.spend_product (List.length own) (Numbers.of_nat first.tlabel / 10 + 1);   (* labels are compared *)
      let mdraws = fst (fst (List.hd own)) in
      if List.exists discreteb mdraws && not (List.for_all discreteb mdraws) then
        Json.uncovered "merged classes with whole-number noise and other noise";
      { hull; mdraws; mleaf = { first with tshifts } }

(* How many whole-number points a sum of k over n queries has: a row of the Delannoy numbers. *)
let points n k =
  let row = Array.make (k + 1) 1 in
  for _ = 1 to n do
    let before = Array.copy row in
    for j = 1 to k do row.(j) <- min 1_000_000 (row.(j - 1) + before.(j) + before.(j - 1)) done
  done;
  row.(k)

let one_tree c n tintegers tscope group =
  let classes = Array.of_list (List.map named (Json.list (Json.get c "classes"))) in
  let summed = match tscope with TSum _ -> true | _ -> false in
  let tprogram = Reading.tree (Reading.queries n) (leaf summed n classes) (Json.get c "nodes") in
  if summed && Reading.has_discrete tprogram then begin
    let p = points n group in
    if p > most_written_out then Json.uncovered "a sum of more than %d whole-number points" most_written_out;
    let rec each = function
      | Leaf _ -> Steps.spend_product p n | Nil -> () | Draw (_, t) -> each t | Br (_, a, b) -> each a; each b in
    each tprogram
  end;
  { tscope; tintegers; tlength = Numbers.nat n; tbound = Numbers.rational (Json.get c "bound"); tprogram;
    tclasses = Array.to_list (Array.mapi (merged summed n tprogram) classes) }

let value length sloped v =
  Json.fields v ["nodes"; (if sloped then "slopes" else "pairs")];
  let live = ref [] and above = ref 0 in
  let leaf (place : Reading.place) n =
    if place.known.draws > 0 then Json.unreadable "no noise is drawn for a value";
    above := max !above place.conditions;
    let vid = Numbers.nat place.number in
    if Json.has n "dead" then begin
      Json.fields n ["dead"];
      { vid; vexpr = { lc = Numbers.zero; le = []; lh = [] }; vdead = Some (Reading.vector place.conditions (Json.get n "dead")) }
    end else begin
      Json.fields n ["leaf"];
      live := place.number :: !live;
      match Json.get n "leaf" with
      | List [Text "float"; Object _ as e] -> { vid; vexpr = Reading.expression place.known e; vdead = None }
      | _ -> Json.unreadable "a value is a number"
    end in
  let vprogram = Reading.tree (Reading.queries length) leaf (Json.get v "nodes") in
  let live = List.sort compare !live in
  if List.length live > most_value_leaves then Json.uncovered "a value of more than %d leaves" most_value_leaves;
  let pairs = List.concat_map (fun i -> List.map (fun j -> (Numbers.nat i, Numbers.nat j)) live) live in
  let conditions = 2 * !above + 2 * length + 2 in
  let vectors j =
    let l = List.map (Reading.vector conditions) (Json.list j) in
    if List.length l <> List.length pairs then Json.unreadable "there is one vector for each pair of leaves";
    List.combine pairs l in
  (* each pair looks up its vector, and writes all conditions out *)
  Steps.spend_product (List.length pairs) (List.length pairs / 4 + conditions * (if sloped then 1 else 1 + length / 4));
  if sloped then
    { vprogram; vpairs = []; vslopes = List.map (fun s ->
          Json.fields s ["query"; "slope"; "up"; "down"];
          { squery = Numbers.nat (Reading.queries length (Json.text (Json.get s "query")));
            sslope = Numbers.rational (Json.get s "slope"); sup = vectors (Json.get s "up"); sdown = vectors (Json.get s "down") })
          (Json.list (Json.get v "slopes")) }
  else { vprogram; vpairs = vectors (Json.get v "pairs"); vslopes = [] }

type t = Plain of tree_certificate | Valued of values_certificate
let read c =
  let valued = Json.has c "values" in
  Scope.head c (["nodes"; "classes"] @ (if valued then ["values"] else []));
  let s = Scope.read c false in
  let n = Option.get s.length and k = Numbers.nat s.group in
  let tscope = match s.movement with "all" -> TAll k | "monotone" -> TMonotone k | _ -> TSum k in
  if not valued then s, Plain (one_tree c n s.integer tscope s.group)
  else begin
    let values = Json.list (Json.get c "values") in
    let vsloped = match values, tscope with v :: _, TSum _ -> Json.has v "slopes" | _ -> false in
    let vvalues = List.map (value n vsloped) values in
    Steps.spend_product (List.length values) (n * 4);
    let inner = one_tree c (List.length values) false (if vsloped then tscope else TAll (Numbers.nat 1)) s.group in
    if Reading.has_discrete inner.tprogram then Json.uncovered "whole-number noise on values";
    s, Valued { vscope = tscope; vlength = Numbers.nat n; vsloped; vvalues; inner }
  end
