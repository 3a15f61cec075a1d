(* What does a certificate say of itself: its head, and the neighbours that it is about? *)

type t = { length : int option; integer : bool; movement : string; group : int; parameters : (string * string) list }

let texts s = match Json.get s "parameters" with
  | Object l -> List.map (fun (k, v) -> (k, Json.text v)) l | _ -> Json.unreadable "parameters are an object"
let movements = ["all"; "one"; "monotone"; "norm=1"]
let most_length = 1_000 and most_group = 1_000
let read c any =
  let s = Json.get c "scope" in
  Json.fields s ["data"; "length"; "values"; "movement"; "group"; "parameters"];
  if Json.get s "data" <> Text "queries" then Json.unreadable "the data of a scope are queries";
  let length = match Json.get s "length" with
    | Text "any" when any -> None
    | _ when any -> Json.unreadable "the length of a fold is any"
    | n -> let n = Numbers.whole most_length n in if n < 1 then Json.unreadable "the length is at least 1"; Some n in
  let integer = match Json.get s "values" with
    | Text "real" -> false | Text "integer" -> true | _ -> Json.unreadable "values are real or integer" in
  let movement = Json.text (Json.get s "movement") and group = Numbers.whole most_group (Json.get s "group") in
  if not (List.mem movement movements) then Json.unreadable "no movement: %s" (Json.shown movement);
  if group < 1 then Json.unreadable "a group is at least 1";
  { length; integer; movement; group; parameters = texts s }

(* Whose records they are, and what may happen to them, for kind releases. *)
type of_records = { replaced : bool; times : int; person : string option; given : (string * string) list }
let read_of_records c =
  let s = Json.get c "scope" in
  Json.fields s ["data"; "relation"; "group"; "person"; "parameters"];
  if Json.get s "data" <> Text "records" then Json.unreadable "the data of a scope are records";
  let replaced = match Json.get s "relation" with
    | Text "add-remove" -> false | Text "replace" -> true | _ -> Json.unreadable "records come and go, or are replaced" in
  let times = Numbers.whole most_group (Json.get s "group") in
  if times < 1 then Json.unreadable "a group is at least 1";
  let person = match Json.get s "person" with Null -> None | p -> Some (Json.text p) in
  { replaced; times; person; given = texts s }

(* The fields of every certificate, those of its kind, and its name. *)
let head c body =
  Json.fields c (["format"; "version"; "kind"; "mechanism"; "scope"; "bound"] @ body);
  if Json.get c "format" <> Text "dpaudit-certificate" then Json.unreadable "the format is dpaudit-certificate";
  if Json.get c "version" <> Number "1" then Json.uncovered "its version is not 1";
  let m = Json.get c "mechanism" in
  Json.fields m ["name"; "source"]; ignore (Json.text (Json.get m "name")); ignore (Json.text (Json.get m "source"))

let words s =
  let k = s.group in
  Printf.sprintf "%s, %s numbers, where %s"
    (match s.length with None -> "any number of queries" | Some 1 -> "1 query" | Some n -> Printf.sprintf "%d queries" n)
    (if s.integer then "integer" else "real")
    (match s.movement with
     | "all" -> Printf.sprintf "each query moves by at most %d" k
     | "one" -> Printf.sprintf "one query moves by at most 1%s" (if k = 1 then "" else Printf.sprintf ", %d times" k)
     | "monotone" -> Printf.sprintf "all queries move in one direction by at most 1%s" (if k = 1 then "" else Printf.sprintf ", %d times" k)
     | _ -> Printf.sprintf "the queries move by at most %d in sum" k)
let words_of_records s =
  Printf.sprintf "any number of records, where %s %s%s"
    (match s.person with None -> "one record" | Some p -> Printf.sprintf "all records of one person, named by %s," (Json.shown p))
    (match s.replaced, s.person with
     | false, None -> "comes or goes" | false, _ -> "come or go" | true, None -> "is replaced" | true, _ -> "are replaced")
    (if s.times = 1 then "" else Printf.sprintf ", %d times" s.times)
let of_parameters l = String.concat ", " (List.map (fun (k, v) -> k ^ "=" ^ v) l)
