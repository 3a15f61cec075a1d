(* For a page or node: dpaudit_check(text) = [word, sentence]. *)
open Js_of_ocaml
let () =
  Js.Unsafe.set Js.Unsafe.global "dpaudit_check" (Js.wrap_callback (fun text ->
      let word, said = Answer.of_text (Js.to_string text) in
      Js.array [| Js.string (Answer.text_of word); Js.string said |]))
