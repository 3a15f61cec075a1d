(* Which numbers are meant?  Whole numbers, and rationals in lowest terms, as the numbers of the check. *)
open Checker

let zero = { qnum = Z0; qden = XH }
let digits s = s <> "" && String.for_all Json.is_digit s && (s = "0" || s.[0] <> '0')

(* A whole number from 0 to most. *)
let whole most = function
  | Json.Number s when digits s && String.length s <= 9 && int_of_string s <= most -> int_of_string s
  | _ -> Json.unreadable "a whole number from 0 to %d is expected" most
let nat i = Steps.spend i; let rec go i n = if i = 0 then n else go (i - 1) (S n) in go i O
let rec of_nat = function O -> 0 | S n -> 1 + of_nat n
let rec positive i = if i = 1 then XH else if i land 1 = 0 then XO (positive (i / 2)) else XI (positive (i / 2))
let integer i = if i = 0 then Z0 else if i > 0 then Zpos (positive i) else Zneg (positive (- i))
let rec bits = function XH -> 1 | XO p | XI p -> 1 + bits p

let natural s = let v = ref Z0 in
  String.iter (fun c -> v := Z.add (Z.mul !v (integer 10)) (integer (Char.code c - 48))) s; !v
let signed s =
  let negative = s <> "" && s.[0] = '-' in
  let d = if negative then String.sub s 1 (String.length s - 1) else s in
  if not (digits d) || String.length d > 60 || (negative && d = "0") then Json.unreadable "no rational in lowest terms: %s" (Json.shown s);
  if negative then Z.opp (natural d) else natural d

(* The common denominator of all rationals, and the longest numerator, in bits: they bound every number of the check. *)
let common = ref XH and longest = ref 1
let known : (string, q) Hashtbl.t = Hashtbl.create 64
let start () = common := XH; longest := 1; Hashtbl.reset known
let most_bits = 600
let fraction_of s =
  let q = match String.index_opt s '/' with
    | None -> { qnum = signed s; qden = XH }
    | Some i -> (match signed (String.sub s (i + 1) (String.length s - i - 1)) with
        | Zpos p when p <> XH -> { qnum = signed (String.sub s 0 i); qden = p }
        | _ -> Json.unreadable "no rational in lowest terms: %s" (Json.shown s)) in
  if qred q <> q then Json.unreadable "no rational in lowest terms: %s" (Json.shown s);
  q
let count q =
  (match q.qnum with Z0 -> () | Zpos p | Zneg p -> longest := max !longest (bits p));
  if q.qden <> XH then begin
    let rest = qred { qnum = Zpos !common; qden = q.qden } in   (* lcm(a, d) = d * (a / gcd(a, d)) *)
    (match Z.mul (Zpos q.qden) rest.qnum with Zpos p -> common := p | _ -> ());
    if bits !common > most_bits then Json.uncovered "its numbers have a common denominator of more than %d bits" most_bits
  end
let rational j =
  let s = Json.text j in
  match Hashtbl.find_opt known s with
  | Some q -> q
  | None ->
      let q = fraction_of s in
      count q; Steps.spend 50;
      Hashtbl.add known s q; q
(* What a step of the check weighs, by the length of the numbers. *)
let weight () = let b = 2 * bits !common + !longest in 1 + b * b / 1_000

(* A decimal as JSON writes it, exactly; None for what is no finite number of ordinary size. *)
let decimal s =
  let negative = s.[0] = '-' in
  let s = if negative then String.sub s 1 (String.length s - 1) else s in
  let mantissa, power = match String.index_opt (String.lowercase_ascii s) 'e' with
    | None -> s, 0
    | Some i -> String.sub s 0 i, (let e = String.sub s (i + 1) (String.length s - i - 1) in
        if String.length e > 4 then 9_999 else int_of_string (if e.[0] = '+' then String.sub e 1 (String.length e - 1) else e)) in
  let before, after = match String.index_opt mantissa '.' with
    | None -> mantissa, ""
    | Some i -> String.sub mantissa 0 i, String.sub mantissa (i + 1) (String.length mantissa - i - 1) in
  let power = power - String.length after in
  if String.length mantissa > 40 || abs power > 400 then None else
    let ten n = natural ("1" ^ String.make n '0') in
    let m = natural (before ^ after) in
    let m = if negative then Z.opp m else m in
    match ten (max 0 (- power)) with
    | Zpos d -> Some (qred { qnum = Z.mul m (ten (max 0 power)); qden = d })
    | _ -> None

let add a b =
  let den = match Z.mul (Zpos a.qden) (Zpos b.qden) with Zpos p -> p | _ -> XH in
  qred { qnum = Z.add (Z.mul a.qnum (Zpos b.qden)) (Z.mul b.qnum (Zpos a.qden)); qden = den }

(* A number whose exponential is at least q, and hardly more, by Newton's method.  It is a proposal: whoever uses it
   checks that it is. *)
let above_log q =
  let rec float_of = function XH -> 1. | XO p -> 2. *. float_of p | XI p -> 2. *. float_of p +. 1. in
  let rec power i = if i = 0 then XH else XO (power (i - 1)) in
  let better l = match q.qnum, below_exp l with
    | Zpos n, { qnum = Zpos m; qden } ->
        let part = match Z.mul (Zpos q.qden) (Zpos m) with Zpos p -> p | _ -> XH in
        rounded true (add l (add { qnum = Z.mul (Zpos n) (Zpos qden); qden = part } { qnum = Zneg XH; qden = XH }))
    | _ -> l in
  match q.qnum with
  | Zpos n ->
      let near = int_of_float (log (float_of n /. float_of q.qden) *. 65_536.) in
      let found = better (better (better { qnum = integer near; qden = power 16 })) in
      qred (add found { qnum = Zpos XH; qden = power 90 })
  | _ -> zero
