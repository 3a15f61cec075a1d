(* What is said of a certificate, alone or in evidence?  PROVED only where the extracted check returned true. *)
open Checker

type word = Proved | Refused | Not_covered
let text_of = function Proved -> "PROVED" | Refused -> "REFUSED" | Not_covered -> "NOT COVERED"

let is k o name = match o with Json.Object l -> List.assoc_opt k l = Some (Json.Text name) | _ -> false
let maybe k = function Json.Object l -> (match List.assoc_opt k l with Some Json.Null -> None | found -> found) | _ -> None

(* The certificate, and what the evidence around it states as its bound, if there is evidence. *)
let found document =
  if is "format" document "dpaudit-certificate" then document, None
  else match maybe "evidence" document with
    | None -> Json.uncovered "no certificate, and no evidence"
    | Some e ->
        let certificate = match maybe "proof" e with
          | None -> Json.uncovered "evidence without a proof" | Some p -> maybe "certificate" p in
        match certificate, maybe "upper" e with
        | None, _ -> Json.uncovered "a proof without a certificate"
        | _, None -> Json.uncovered "a proof that gives no bound"
        | Some c, Some upper -> c, Some (e, upper)

(* Why evidence says more than its certificate; None if it does not. *)
let overstated (evidence, upper) certificate bound =
  let below q = not (qle_bool bound q) in
  let name = Json.text (Json.get (Json.get certificate "mechanism") "name") in
  let target = Json.text (Json.get (Json.get evidence "target") "name") in
  let own = match String.rindex_opt target ':' with   (* older records leave out the file *)
    | None -> target | Some i -> String.sub target (i + 1) (String.length target - i - 1) in
  if name <> target && name <> own then Some "the certificate is of another mechanism"
  else if Json.get upper "parameter" <> Text "epsilon" || Json.get upper "side" <> Text "upper" then Some "the bound that is stated is no upper bound of epsilon"
  else match Json.get upper "value" with
    | Number s -> (match Numbers.decimal s with
        | Some v when not (below v) ->
            (match maybe "exact" upper with
             | None -> None
             | Some x -> if below (Numbers.fraction_of (Json.text x)) then Some "a smaller bound is stated than the certificate has" else None)
        | _ -> Some "a smaller bound is stated than the certificate has")
    | _ -> Some "the bound that is stated is no number"

(* A `>=` counts as strict where it names a continuous draw; in the check, where the last draw that it names is one.  A
   certificate that is refused only for this difference is not covered. *)
let rec strict smooth tree =
  let continuous ds e = List.exists2 (fun d a -> d && a.qnum <> Z0)
      (List.filteri (fun i _ -> i < List.length e.lh) ds) (List.filteri (fun i _ -> i < List.length ds) e.lh) in
  match tree with
  | Leaf _ | Nil -> tree
  | Draw (d, t) -> Draw (d, strict (smooth @ [d.dm <> DLaplace]) t)
  | Br (cs, a, b) ->
      Br (List.map (function Cge e when continuous smooth e -> Cgt e | c -> c) cs, strict smooth a, strict smooth b)

let checked certificate =
  let boundary = "vectors that need a boundary of probability 0" and said s = (Scope.words s, s.Scope.parameters) in
  let started check = Numbers.(Steps.weight := weight ()); check () in
  if not (is "format" certificate "dpaudit-certificate") then Json.uncovered "a record that is no certificate of dpaudit's format";
  match Json.text (Json.get certificate "kind") with
  | "releases" ->
      let s, digits, c = Releases.read certificate in
      (* what a sample gains, and what reports cost, is computed to so many digits *)
      let more = qred { qnum = Z.mul c.rbound.qnum (Numbers.integer 1_000_001);
                        qden = (match Z.mul (Zpos c.rbound.qden) (Numbers.integer 1_000_000) with Zpos p -> p | _ -> XH) } in
      (Scope.words_of_records s, s.given), check_releases c, (fun () -> match digits with All -> false | Few -> true | Enough -> check_releases { c with rbound = more }),
      "a gain by sampling, or the odds of a report, that need more digits"
  | "fold" ->
      let again p = { init = strict [] p.init; steps = List.map (strict []) p.steps; ends = List.map (Option.map (strict [])) p.ends } in
      (match Folds.read certificate with
       | s, Plain c ->
           said s, started (fun () -> check_fold c), (fun () -> check_fold { c with program = again c.program }), boundary
       | s, Coupled c ->
           said s, started (fun () -> check_couplings c),
           (fun () -> check_couplings { c with cprogram = again c.cprogram }), boundary)
  | "tree" ->
      let again c = { c with tprogram = strict [] c.tprogram } in
      (match Trees.read certificate with
       | s, Plain c ->
           said s, started (fun () -> check_tree c), (fun () -> check_tree { c with tprogram = strict [] c.tprogram }), boundary
       | s, Valued c ->
           said s, started (fun () -> check_values c),
           (fun () -> check_values { c with inner = again c.inner }), boundary)
  | ("selection" | "moves" | "account") as k -> Json.uncovered "kind %s" k
  | k -> Json.uncovered "a kind that is not known: %s" (Json.shown k)

let of_text text =
  Steps.start (); Numbers.start (); Reading.last_label := O;
  try
    let certificate, evidence = found (Json.parse text) in
    let (words, parameters), holds, almost, needed = checked certificate in
    let bound = Json.get certificate "bound" in
    let parameters = Scope.of_parameters parameters in
    let said = Printf.sprintf "\u{3b5} \u{2264} %s for %s%s, for %s" (Json.text bound)
        (Json.text (Json.get (Json.get certificate "mechanism") "name"))
        (if parameters = "" then "" else " with " ^ parameters) words in
    if not holds then
      if almost () then Not_covered, needed
      else Refused, "the certificate does not show " ^ said
    else match Option.bind evidence (fun e -> overstated e certificate (Numbers.rational bound)) with
      | Some why -> Refused, why ^ "; the certificate shows " ^ said
      | None -> Proved, said
  with
  | Json.Uncovered what -> Not_covered, what
  | Json.Unreadable why -> Not_covered, "it cannot be read: " ^ why
  | Steps.Too_many -> Not_covered, "it takes more steps than a page may"
  | Stack_overflow -> Not_covered, "it is nested too deeply"
