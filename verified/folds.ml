(* From JSON to a certificate of kind fold.  Couplings are not covered. *)
open Checker

let most_states = 2_000 and most_reals = 50

let leaf reals (place : Reading.place) n =
  let none = { label = place.label; released = []; next = None; new0 = []; shifts = []; dead = None } in
  if Json.has n "dead" then begin
    Json.fields n ["dead"];
    { none with dead = Some (Reading.vector place.conditions (Json.get n "dead")) }
  end else begin
    Json.fields n ["leaf"; "next"; "state"; "shifts"];
    let next = match Json.get n "next" with Null -> None | k -> Some (Numbers.nat (Numbers.whole (most_states - 1) k)) in
    let new0 = List.map (Reading.expression place.known) (Json.list (Json.get n "state")) in
    if List.length new0 <> (if next = None then 0 else reals) then Json.unreadable "a leaf that goes on gives every number of the state, any other none";
    let entry e =
      if Json.has e "from" then Json.uncovered "couplings";
      Json.fields e ["difference"; "shift"];
      Steps.spend (place.conditions + 2);
      { difference = Numbers.rational (Json.get e "difference"); shift = List.map Numbers.rational (Json.list (Json.get e "shift")) } in
    let case l =
      let l = Json.list l in
      Steps.spend_product (List.length l + 1) (List.length l + 1);
      List.map entry l in
    { none with released = Reading.released 1 place.known (Json.get n "leaf"); next; new0;
      shifts = List.map case (Json.list (Json.get n "shifts")) }
  end

let read c =
  Scope.head c ["init"; "states"; "cases"];
  let s = Scope.read c true in
  let k = Numbers.nat s.group in
  let the_scope = match s.movement with "all" -> All k | "monotone" -> Monotone k | _ -> Sum k in
  let cases = Json.list (Json.get c "cases") in
  if List.exists (fun case -> Json.has case "couplings") cases then Json.uncovered "couplings";
  let states = Json.list (Json.get c "states") in
  let many = List.length states in
  if many > most_states then Json.uncovered "more than %d states" most_states;
  let given = List.map (fun case ->
      Json.fields case ["distances"; "allowances"];
      let allowance a = match List.map Numbers.rational (Json.list a), the_scope with
        | [v], (All _ | Monotone _) -> (v, v)
        | [before; after], Sum _ -> (before, after)
        | _ -> Json.unreadable "an allowance is one number, or one before and one after what moves" in
      (List.map Numbers.rational (Json.list (Json.get case "distances")), List.map allowance (Json.list (Json.get case "allowances")))) cases in
  let reals = match given with [] -> Json.unreadable "there are no cases" | (d, _) :: _ -> List.length d in
  if reals > most_reals then Json.uncovered "a state of more than %d numbers" most_reals;
  List.iter (fun (d, a) -> if List.length d <> reals || List.length a <> many then
                Json.unreadable "a case gives every distance and every allowance") given;
  let rec inside ends = function
    | Leaf (l : fleaf) ->
        Steps.spend_product (List.length cases) (many + 1);
        (match l.next with
         | Some _ when ends -> Json.unreadable "nothing follows an end"
         | Some k when Numbers.of_nat k >= many -> Json.unreadable "there is no state %d" (Numbers.of_nat k)
         | _ -> ())
    | Draw (_, t) -> inside ends t
    | Br (_, a, b) -> inside ends a; inside ends b
    | Nil -> () in
  let tree ends data given = let t = Reading.tree data (leaf reals) given in inside ends t; t in
  let init = tree false Reading.nothing (Json.get c "init") in
  let steps = List.map (fun s ->
      Json.fields s ["name"; "step"; "end"]; ignore (Json.text (Json.get s "name"));
      tree false (Reading.step reals) (Json.get s "step")) states in
  let ends = List.map (fun s -> match Json.get s "end" with
      | Null -> None | e -> Some (tree true (Reading.states reals) e)) states in
  s, { the_scope; integers = s.integer; bound = Numbers.rational (Json.get c "bound"); program = { init; steps; ends }; given }
