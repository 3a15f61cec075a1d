(* From JSON to a certificate of kind releases, in pure epsilon.  Noise of other laws is not covered. *)
open Checker

let most_columns = 1_000 and most_releases = 20_000 and most_paths = 20_000 and most_depth = 10 and most_kinds = 5_000

let few most what l = if List.length l > most then Json.uncovered "more than %d %s" most what; l
let positive n = match Numbers.integer n with Zpos p -> p | _ -> Json.unreadable "a number from 1 on is expected"
let optional read = function Json.Null -> None | j -> Some (read j)
let at_most a b = qle_bool a b

(* Equal texts have equal numbers. *)
let texts : (string, int) Hashtbl.t = Hashtbl.create 16
let text_number s = match Hashtbl.find_opt texts s with
  | Some n -> n | None -> let n = Hashtbl.length texts + 1 in Hashtbl.add texts s n; n
let point = function
  | Json.List [Text "number"; n] -> ANumber (Numbers.rational n)
  | List [Text "text"; Text s] -> AText (positive (text_number s))
  | List [Text "truth"; Bool b] -> ATruth b
  | _ -> Json.unreadable "no value of a column"

let column j =
  Json.fields j ["name"; "low"; "high"; "values"; "missing"];
  ignore (Json.text (Json.get j "name"));
  let lowest = optional Numbers.rational (Json.get j "low") and highest = optional Numbers.rational (Json.get j "high") in
  let missing = match Json.get j "missing" with Bool b -> b | _ -> Json.unreadable "a value may be missing, or not" in
  let among = optional (fun l -> List.map point (few most_kinds "values of a column" (Json.list l))) (Json.get j "values") in
  (match among, lowest, highest with
   | Some [], _, _ -> Json.unreadable "a column without values"
   | Some _, Some _, _ | Some _, _, Some _ -> Json.unreadable "a column has ends or values, not both"
   | None, Some a, Some b when not (at_most a b) -> Json.unreadable "the low end of a column is above its high end"
   | _ -> ());
  { lowest; highest; among; missing }

(* Every test has a number. *)
type known = { columns : int; mutable asked : int; numbers : (int * Checker.operator * Checker.q point, int) Hashtbl.t }
let condition known = function
  | Json.List [c; Text o; operand; Bool holds] ->
      let c = Numbers.whole (known.columns - 1) c in
      let o, operand = match o with
        | "<" -> Less, point operand | "<=" -> LessEqual, point operand | "==" -> Equal, point operand
        | "missing" when operand = Json.Null -> IsMissing, NoValue
        | "missing" -> Json.uncovered "a test of what is missing that has an operand" | _ -> Json.unreadable "no test: %s" (Json.shown o) in
      (match o, operand with
       | (Less | LessEqual), (AText _ | ATruth _) -> Json.unreadable "only numbers have an order" | _ -> ());
      let key = (c, o, operand) in
      let number = match Hashtbl.find_opt known.numbers key with
        | Some n -> n
        | None -> let n = known.asked in known.asked <- n + 1; Hashtbl.add known.numbers key n; n in
      Steps.spend (number + 1);
      (Numbers.nat number, holds)
  | _ -> Json.unreadable "no condition"

(* How much work it is to price what was read. *)
let size = ref 0
let term known j =
  Json.fields j ["if"; "low"; "high"];
  let conditions = List.map (condition known) (few most_columns "conditions" (Json.list (Json.get j "if"))) in
  List.iter (fun (n, _) -> size := !size + 1 + Numbers.of_nat n) conditions;
  size := !size + 10;
  let tlow = Numbers.rational (Json.get j "low") and thigh = Numbers.rational (Json.get j "high") in
  if not (at_most tlow thigh) then Json.unreadable "a record adds something from a number to a larger one";
  { conditions; tlow; thigh }

let rec value known depth j =
  if depth > most_depth then Json.unreadable "more than %d levels" most_depth;
  if Json.has j "ball" then Json.uncovered "vectors of which the length is known";
  Json.fields j ["terms"; "bent"];
  let bent rest e =
    Json.fields e ["kind"; "factor"; "inner"];
    size := !size + 10;
    let inner = Json.get e "inner" and deeper = value known (depth + 1) in
    let bend, inner = match Json.get e "kind" with
      | Text "abs" -> Abs, deeper inner | Text "clip" -> Clip, deeper inner
      | Text "among" ->
          (match List.rev_map deeper (Json.list inner) with
           | [] -> Json.unreadable "one of no numbers"
           | last :: others -> Among, List.fold_left (fun v w -> Several (w, v)) last others)
      | _ -> Json.unreadable "no function that is known" in
    Bent (bend, Numbers.rational (Json.get e "factor"), inner, rest) in
  let terms = List.map (term known) (Json.list (Json.get j "terms")) in
  List.fold_left (fun v t -> Plus (t, v)) (List.fold_left bent Constant (Json.list (Json.get j "bent"))) terms

let uncovered_laws = ["gaussian"; "discrete_gaussian"; "noisy_max"; "laplace_threshold"; "propose_test_release";
                      "truncated_laplace"; "above_threshold"]
let one = { qnum = Numbers.integer 1; qden = XH }
let logarithms : (q, q) Hashtbl.t = Hashtbl.create 4
(* A bit of each record, flipped with a probability; and a number that is above the logarithm of the odds. *)
let reports j =
  let d = Json.get j "details" in
  Json.fields d ["probability"];
  let p = Numbers.rational (Json.get d "probability") in
  let q = Numbers.add one { p with qnum = Z.opp p.qnum } in
  match p.qnum, q.qnum with
  | Zpos m, Zpos n ->
      let odds = if qle_bool p q then { qnum = Zpos n; qden = m } else { qnum = Zpos m; qden = n } in
      if not (at_most odds { one with qnum = Numbers.integer 1_000_000 }) then
        Json.uncovered "reports that are flipped, or are not, less than once in 1,000,000 times";
      let odds = qred odds in
      let l = match Hashtbl.find_opt logarithms odds with
        | Some l -> l
        | None ->
            let l = if odds = one then Numbers.zero else Numbers.above_log odds in
            Hashtbl.add logarithms odds l; l in
      Numbers.count l;
      Reports (p, l)
  | _ -> Reports (p, Numbers.zero)
let most_times = 999_999_999
let release known samples j =
  Json.fields j ["law"; "scale"; "values"; "sample"; "times"; "line"; "details"];
  ignore (Json.text (Json.get j "line"));
  let rlaw = match Json.text (Json.get j "law") with
    | "laplace" -> Added Laplace | "discrete_laplace" -> Added DLaplace | "select" -> Choice
    | "randomised_response" -> reports j
    | law when List.mem law uncovered_laws -> Json.uncovered "releases of the law %s" law
    | law -> Json.unreadable "no law: %s" (Json.shown law) in
  (match rlaw with Reports _ -> () | _ -> Json.fields (Json.get j "details") []);
  let rscale = Numbers.rational (Json.get j "scale") in
  if at_most rscale Numbers.zero then Json.unreadable "a scale is positive";
  let times = Numbers.whole most_times (Json.get j "times") in
  let rtimes = positive times in
  let rsample = optional (Numbers.whole (List.length samples - 1)) (Json.get j "sample") in
  (match rsample with
   | Some s when times mod snd (List.nth samples s) <> 0 -> Json.uncovered "a sample of which some draws are not used"
   | _ -> ());
  size := 0;
  let rvalues = List.map (value known 0) (Json.list (Json.get j "values")) in
  if rvalues = [] then Json.unreadable "a release of nothing";
  (match rlaw, rvalues with
   | Reports _, _ :: _ :: _ -> Json.unreadable "reports are of one truth of each record"
   | Reports _, _ when rscale <> one -> Json.unreadable "the scale of reports is 1"
   | _ -> ());
  { rlaw; rscale; rvalues; rtimes; rsample = Option.map Numbers.nat rsample }, rsample, !size + 20

let sample j =
  Json.fields j ["rate"; "times"];
  let rate = Numbers.rational (Json.get j "rate") and times = Numbers.whole most_times (Json.get j "times") in
  if at_most rate Numbers.zero || not (at_most rate one) then
    Json.unreadable "a rate is above 0 and at most 1";
  { rate_of = rate; drawn = positive times }, times

(* How many digits are known of what losses are compared with. *)
type digits = All | Enough | Few
let read c =
  if Json.get c "version" <> Number "1" then Json.uncovered "its version is not 1";
  if Json.has c "account" then Json.uncovered "accounts";
  if Json.has c "given" then Json.uncovered "lines that were not read, of which somebody said what they do";
  Scope.head c ["notion"; "delta"; "columns"; "samples"; "releases"; "paths"];
  let s = Scope.read_of_records c in
  if Json.get c "notion" <> Text "epsilon" then Json.uncovered "bounds of another notion than epsilon";
  if Json.get c "delta" <> Text "0" then Json.uncovered "bounds at a delta";
  Hashtbl.reset texts; Hashtbl.reset logarithms;
  let given = few most_columns "columns" (Json.list (Json.get c "columns")) in
  let names = List.map (fun j -> Json.get j "name") given in
  if List.length (List.sort_uniq compare names) < List.length names then Json.unreadable "two columns of one name";
  let columns = List.map column given in
  let samples = List.map sample (few most_releases "samples" (Json.list (Json.get c "samples"))) in
  let known = { columns = List.length columns; asked = 0; numbers = Hashtbl.create 16 } in
  let releases = List.map (release known samples) (few most_releases "releases" (Json.list (Json.get c "releases"))) in
  let all = Array.of_list releases in
  let paths = List.map (fun p -> List.map (Numbers.whole (Array.length all - 1)) (few most_releases "releases of a path" (Json.list p)))
      (few most_paths "paths" (Json.list (Json.get c "paths"))) in
  if paths = [] then Json.unreadable "there is no path";
  let tests = Array.make known.asked None in
  Hashtbl.iter (fun (c, operation, operand) n -> tests.(n) <- Some { asked = Numbers.nat c; operation; operand }) known.numbers;
  let tests = List.map Option.get (Array.to_list tests) in
  (* how many kinds there are, counted before they are made; and what they cost *)
  let number = ref 0 in
  let kinds = List.fold_left (fun many column ->
      let asked = own tests (Numbers.nat !number) in
      incr number;
      Steps.spend (List.length tests);
      let m = List.length asked and listed = match column.among with None -> 0 | Some l -> List.length l in
      let points = 3 * (m + 2) + listed + 2 in
      Steps.spend_product (20 * points) (m + 1);
      Steps.spend_product (points * points) (m + 1);
      let many = many * List.length (kinds_of_column column asked) in
      if many > most_kinds then Json.uncovered "more than %d kinds of records" most_kinds;
      many) 1 columns in
  Steps.spend_product kinds (20 * (List.length tests + 1) * (1 + List.length tests / 20 + List.length columns / 20));
  let changes = if s.replaced then kinds * kinds else kinds in
  Numbers.(Steps.weight := weight ());
  List.iter (fun path ->
      let sampled = if s.replaced then [] else
          List.sort_uniq compare (List.filter_map (fun i -> let _, s, _ = all.(i) in s) path) in
      if List.length sampled > 1 then Json.uncovered "more than one sample on a path";
      (* whole numbers of a page have 32 bits *)
      let most = Steps.most / !Steps.weight in
      let work = List.fold_left (fun n i -> let _, _, w = all.(i) in min (most + 1) (n + w + i)) 10 path in
      if work > most then raise Steps.Too_many;
      Steps.spend_product changes (work * !Steps.weight);
      if sampled <> [] then Steps.spend_product (changes * changes) (4 * !Steps.weight)) paths;
  let is_rounded (r, sample, _) = (match r.rlaw with Reports _ -> true | _ -> false) || not s.replaced && sample <> None in
  let reported = List.exists (fun (r, _, _) -> match r.rlaw with Reports _ -> true | _ -> false) releases in
  if reported && s.person <> None then Json.uncovered "reports of several records of one person";
  let small t = not (at_most { one with qden = positive 1_000_000 } t.rate_of) in   (* then few digits are known *)
  let digits = if List.exists (fun (t, _) -> small t) samples then Few else if List.exists is_rounded releases then Enough else All in
  s, digits, { columns; tests; replaced = s.replaced; groups = positive s.times; rbound = Numbers.rational (Json.get c "bound");
                samples = List.map fst samples; releases = List.map (fun (r, _, _) -> r) releases;
                paths = List.map (List.map Numbers.nat) paths }
