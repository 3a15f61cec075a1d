// What the checker says of the certificate in this page; checker.js, unpacked and run here, defines dpaudit_check.
setTimeout(async () => {
  const line = document.getElementById("recheck"), data = document.getElementById("dpaudit-evidence");
  let word, said;
  try {
    const unpacked = (text) => {
      const stream = new Blob([Uint8Array.from(atob(text), (each) => each.charCodeAt(0))]).stream();
      return new Response(stream.pipeThrough(new DecompressionStream("gzip"))).text();
    };
    const script = document.createElement("script"), held = data.textContent;
    script.textContent = await unpacked(document.getElementById("checker").textContent);
    document.head.append(script);  // it runs at once, or not at all: the policy names the hash of its text
    [word, said] = dpaudit_check(held.startsWith("H4s") ? await unpacked(held) : held);
  } catch (error) {
    [word, said] = ["NOT COVERED", "the checker stopped"];
  }
  const about = {
    PROVED: ". Checked in this browser just now, by a checker that is proved by machine. That the program is what the certificate describes is not checked here.",
    REFUSED: ". Do not rely on this page; dpaudit check FILE says more.",
    "NOT COVERED": ". Nothing was checked here; dpaudit check FILE does.",
  };
  const strong = document.createElement("strong");
  strong.textContent = `${word}.`;
  line.replaceChildren(strong, ` ${said}${about[word]}`);
  if (word === "REFUSED") line.classList.add("presses");
  line.dataset.answer = word;
});
