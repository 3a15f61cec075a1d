(* What does the text say?  JSON, strictly: no key twice, no raw control characters, no half of a surrogate pair. *)
type t = Null | Bool of bool | Number of string | Text of string | List of t list | Object of (string * t) list

exception Unreadable of string     (* not in the format *)
exception Uncovered of string      (* in the format, or in another, and not known here *)
let unreadable fmt = Printf.ksprintf (fun m -> raise (Unreadable m)) fmt
let uncovered fmt = Printf.ksprintf (fun m -> raise (Uncovered m)) fmt

(* A text for a sentence, shortened, and not within a character. *)
let shown s =
  let rec cut n = if n > 0 && Char.code s.[n] land 0xc0 = 0x80 then cut (n - 1) else n in
  if String.length s <= 60 then s else String.sub s 0 (cut 60) ^ "..."

let most_levels = 200
let most_characters = 8_000_000
let is_digit c = c >= '0' && c <= '9'

let parse s =
  let n = String.length s and at = ref 0 in
  if n > most_characters then uncovered "a text of more than %d characters" most_characters;
  let peek () = if !at < n then s.[!at] else '\000' in
  let rec blanks () = match peek () with ' ' | '\n' | '\t' | '\r' -> incr at; blanks () | _ -> () in
  let expect c = if peek () = c then incr at else unreadable "%C is expected at character %d" c !at in
  let word w v =
    let l = String.length w in
    if !at + l <= n && String.sub s !at l = w then (at := !at + l; v) else unreadable "no value at character %d" !at in
  let unit16 () =
    if !at + 4 > n then unreadable "the text ends in an escape";
    let h = String.sub s !at 4 in
    if not (String.for_all (function '0'..'9' | 'a'..'f' | 'A'..'F' -> true | _ -> false) h) then unreadable "no escape: %s" h;
    at := !at + 4; int_of_string ("0x" ^ h) in
  let text () =
    expect '"';
    let b = Buffer.create 16 in
    let rec go () = match peek () with
      | '"' -> incr at
      | '\\' -> incr at; let c = peek () in incr at;
          (match c with
           | '"' | '\\' | '/' -> Buffer.add_char b c
           | 'b' -> Buffer.add_char b '\b' | 'f' -> Buffer.add_char b '\012' | 'n' -> Buffer.add_char b '\n'
           | 'r' -> Buffer.add_char b '\r' | 't' -> Buffer.add_char b '\t'
           | 'u' ->
               let u = unit16 () in
               let u = if u >= 0xd800 && u < 0xdc00 then begin
                   expect '\\'; expect 'u';
                   let low = unit16 () in
                   if low < 0xdc00 || low > 0xdfff then unreadable "half of a surrogate pair";
                   0x10000 + (u - 0xd800) * 0x400 + (low - 0xdc00)
                 end else u in
               if not (Uchar.is_valid u) then unreadable "half of a surrogate pair";
               Buffer.add_utf_8_uchar b (Uchar.of_int u)
           | _ -> unreadable "no escape at character %d" !at);
          go ()
      | c when c < ' ' -> unreadable "a control character, or the end, in a text at character %d" !at
      | c -> Buffer.add_char b c; incr at; go () in
    go (); Buffer.contents b in
  let number () =
    let start = !at in
    let digits () =
      if not (is_digit (peek ())) then unreadable "no number at character %d" start;
      while is_digit (peek ()) do incr at done in
    if peek () = '-' then incr at;
    if peek () = '0' then incr at else digits ();
    if peek () = '.' then (incr at; digits ());
    (match peek () with
     | 'e' | 'E' -> incr at; (match peek () with '+' | '-' -> incr at | _ -> ()); digits ()
     | _ -> ());
    Number (String.sub s start (!at - start)) in
  let many close one =
    incr at; blanks ();
    if peek () = close then (incr at; []) else
      let rec more found =
        let found = one () :: found in
        blanks ();
        if peek () = ',' then (incr at; blanks (); more found) else (expect close; List.rev found) in
      more [] in
  let rec value level =
    if level > most_levels then unreadable "more than %d levels" most_levels;
    blanks ();
    match peek () with
    | '{' ->
        let keys = Hashtbl.create 8 in
        Object (many '}' (fun () ->
            let k = text () in
            if Hashtbl.mem keys k then unreadable "a key twice: %s" (shown k);
            Hashtbl.add keys k ();
            blanks (); expect ':';
            (k, value (level + 1))))
    | '[' -> List (many ']' (fun () -> value (level + 1)))
    | '"' -> Text (text ())
    | 't' -> word "true" (Bool true) | 'f' -> word "false" (Bool false) | 'n' -> word "null" Null
    | _ -> number () in
  let v = value 0 in
  blanks ();
  if !at < n then unreadable "something follows the end, at character %d" !at;
  v

let has o k = match o with Object l -> List.mem_assoc k l | _ -> false
let get o k = match o with
  | Object l -> (try List.assoc k l with Not_found -> unreadable "the field %s is missing" k)
  | _ -> unreadable "there is no object that has %s" k
let list = function List l -> l | _ -> unreadable "a list is expected"
let text = function Text s -> s | _ -> unreadable "a text is expected"
(* That an object has these fields and no others. *)
let fields o names = match o with
  | Object l ->
      List.iter (fun (k, _) -> if not (List.mem k names) then unreadable "unknown field %s" (shown k)) l;
      List.iter (fun k -> ignore (get o k)) names
  | _ -> unreadable "an object is expected"
