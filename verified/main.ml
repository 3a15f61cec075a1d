(* dpaudit-verified FILE ...: what is said of each; `-` reads one certificate a line.  Exit code 1 unless all are proved. *)
let () =
  let all = ref true in
  let each name text =
    let word, said = Answer.of_text text in
    if word <> Answer.Proved then all := false;
    Printf.printf "%-11s  %s  %s\n" (Answer.text_of word) name said in
  (match Array.to_list Sys.argv with
   | [_; "-"] -> (try while true do each "-" (input_line stdin) done with End_of_file -> ())
   | _ :: files -> List.iter (fun f ->
       let channel = open_in_bin f in
       let text = really_input_string channel (in_channel_length channel) in
       close_in channel; each f text) files
   | [] -> ());
  exit (if !all then 0 else 1)
