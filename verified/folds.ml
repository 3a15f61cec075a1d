(* From JSON to a certificate of kind fold, with couplings or without. *)
open Checker

let most_states = 2_000 and most_reals = 50 and most_couplings = 1_000

let whole_or_none most = function Json.Null -> None | i -> Some (Numbers.nat (Numbers.whole most i))
let leaf coupled couplings reals (place : Reading.place) n =
  let none = { label = place.label; released = []; next = None; new0 = []; shifts = []; links = []; dead = None } in
  if Json.has n "dead" then begin
    Json.fields n ["dead"];
    { none with dead = Some (Reading.vector place.conditions (Json.get n "dead")) }
  end else begin
    Json.fields n ["leaf"; "next"; "state"; "shifts"];
    let next = whole_or_none (most_states - 1) (Json.get n "next") in
    let new0 = List.map (Reading.expression place.known) (Json.list (Json.get n "state")) in
    if List.length new0 <> (if next = None then 0 else reals) then Json.unreadable "a leaf that goes on gives every number of the state, any other none";
    let number e k = Numbers.rational (Json.get e k) and shift e = List.map Numbers.rational (Json.list (Json.get e "shift")) in
    let entry e =
      Json.fields e ["difference"; "shift"];
      Steps.spend (place.conditions + 2);
      { difference = number e "difference"; shift = shift e } in
    let link e =
      Json.fields e ["from"; "difference"; "shift"; "to"];
      let at k = whole_or_none (most_couplings - 1) (Json.get e k) in
      Steps.spend (place.conditions + 2);
      { link_from = at "from"; link_difference = number e "difference"; link_shift = shift e; link_to = at "to" } in
    let case read l =
      let l = Json.list l in
      Steps.spend_product (List.length l + 1) (List.length l + 1);
      List.map read l in
    let given = Json.list (Json.get n "shifts") in
    (* each coupling looks for its links, by number *)
    List.iter (fun l -> Steps.spend_product (List.length (Json.list l) + 1) (couplings * (1 + couplings / 20))) given;
    let l = { none with released = Reading.released 1 place.known (Json.get n "leaf"); next; new0 } in
    if coupled then { l with links = List.map (case link) given } else { l with shifts = List.map (case entry) given }
  end

let coupling many j =
  Json.fields j ["state"; "moved"; "distances"; "allowance"];
  { at_state = Numbers.nat (Numbers.whole (many - 1) (Json.get j "state"));
    has_moved = (match Json.get j "moved" with Bool b -> b | _ -> Json.unreadable "an answer has moved, or has not");
    apart_by = List.map Numbers.rational (Json.list (Json.get j "distances")); still = Numbers.rational (Json.get j "allowance") }

(* The trees, of which each state has so many numbers. *)
let program c coupled cases reals =
  if reals > most_reals then Json.uncovered "a state of more than %d numbers" most_reals;
  let states = Json.list (Json.get c "states") in
  let many = List.length states in
  let rec inside ends = function
    | Leaf (l : fleaf) ->
        Steps.spend_product cases (many + 1);
        (match l.next with
         | Some _ when ends -> Json.unreadable "nothing follows an end"
         | Some k when Numbers.of_nat k >= many -> Json.unreadable "there is no state %d" (Numbers.of_nat k)
         | _ -> ())
    | Draw (_, t) -> inside ends t
    | Br (_, a, b) -> inside ends a; inside ends b
    | Nil -> () in
  let tree ends data given = let t = Reading.tree data (leaf coupled (if coupled then cases else 0) reals) given in inside ends t; t in
  let init = tree false Reading.nothing (Json.get c "init") in
  let steps = List.map (fun s ->
      Json.fields s ["name"; "step"; "end"]; ignore (Json.text (Json.get s "name"));
      tree false (Reading.step reals) (Json.get s "step")) states in
  let ends = List.map (fun s -> match Json.get s "end" with
      | Null -> None | e -> Some (tree true (Reading.states reals) e)) states in
  { init; steps; ends }

type t = Plain of certificate | Coupled of coupled_certificate
let read c =
  Scope.head c ["init"; "states"; "cases"];
  let s = Scope.read c true in
  let k = Numbers.nat s.group and bound = Numbers.rational (Json.get c "bound") in
  let many = List.length (Json.list (Json.get c "states")) in
  if many > most_states then Json.uncovered "more than %d states" most_states;
  let cases = Json.list (Json.get c "cases") in
  if List.exists (fun case -> Json.has case "couplings") cases then begin
    if s.movement <> "one" && s.movement <> "norm=1" then Json.unreadable "couplings are of one answer that moves";
    match List.map (fun case ->
        Json.fields case ["couplings"];
        let given = Json.list (Json.get case "couplings") in
        if List.length given > most_couplings then Json.uncovered "more than %d couplings" most_couplings;
        List.map (coupling many) given) cases with
    | [minus; plus] ->
        let reals = match minus @ plus with [] -> 0 | g :: _ -> List.length g.apart_by in
        let cprogram = program c true (List.length minus + List.length plus) reals in
        s, Coupled { most = k; cintegers = s.integer; cbound = bound; cprogram; reals = Numbers.nat reals; minus; plus }
    | _ -> Json.unreadable "couplings are of two cases"
  end else begin
    let the_scope = match s.movement with "all" -> All k | "monotone" -> Monotone k | _ -> Sum k in
    let given = List.map (fun case ->
        Json.fields case ["distances"; "allowances"];
        let allowance a = match List.map Numbers.rational (Json.list a), the_scope with
          | [v], (All _ | Monotone _) -> (v, v)
          | [before; after], Sum _ -> (before, after)
          | _ -> Json.unreadable "an allowance is one number, or one before and one after what moves" in
        (List.map Numbers.rational (Json.list (Json.get case "distances")), List.map allowance (Json.list (Json.get case "allowances")))) cases in
    let reals = match given with [] -> Json.unreadable "there are no cases" | (d, _) :: _ -> List.length d in
    List.iter (fun (d, a) -> if List.length d <> reals || List.length a <> many then
                  Json.unreadable "a case gives every distance and every allowance") given;
    let program = program c false (List.length cases) reals in
    s, Plain { the_scope; integers = s.integer; bound; program; given }
  end
