(* How much work may a certificate make?  Every loop of the reader counts, and so does `zeroq`, through which every sum of
   the extracted check goes; more than `most` steps is an answer of its own, so that no file keeps a page busy. *)
exception Too_many

let most = 20_000_000   (* some seconds in a browser *)
let left = ref most
let weight = ref 1   (* by the length of the numbers *)
let start () = left := most; weight := 1
let spend n = left := !left - n; if !left < 0 then raise Too_many
let spend_product a b = if a > 0 && b > most / a then raise Too_many else spend (a * b)
(* What `zeroq` counts: a number that is not zero is added or multiplied next, which takes longer. *)
let zero () = spend 1
let nonzero () = spend (20 * !weight)
