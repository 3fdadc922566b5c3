(function () {
  "use strict";
  /* Enhances what is there: without this script every chart, list and link of the page is there too.
     Ids are only ever text: no markup is made of them, and no key of an object. */
  var doc = document, root = doc.documentElement;
  root.classList.add("on-js");

  function all(selector, within) {
    return Array.prototype.slice.call((within || doc).querySelectorAll(selector));
  }
  function make(tag, cls, text) {
    var made = doc.createElement(tag);
    if (cls) made.className = cls;
    if (text !== undefined) made.textContent = text;
    return made;
  }
  function grouped(value) { return String(value).replace(/\B(?=(\d{3})+$)/g, ","); }
  function compare(a, b) {
    if (typeof a !== typeof b) return typeof a === "string" ? 1 : -1;
    return a < b ? -1 : a > b ? 1 : 0;
  }

  /* ---- tables that are in the page whole */

  function sortBy(table, head) {
    var place = Array.prototype.indexOf.call(head.parentNode.children, head), body = table.tBodies[0];
    var before = head.getAttribute("aria-sort");
    var rows = Array.prototype.slice.call(body.rows).map(function (row, index) {
      var cell = row.cells[place], value = cell.getAttribute("data-v");
      var key = value === null ? cell.textContent : value === "" || isNaN(value) ? value : +value;
      return { key: key, index: index, row: row };
    });
    /* At first numbers fall, and words go from A on. */
    var isText = rows.every(function (each) { return typeof each.key === "string"; });
    var up = before ? before === "descending" : isText;
    all("th", table).forEach(function (other) { other.removeAttribute("aria-sort"); });
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    rows.sort(function (a, b) { return (up ? 1 : -1) * compare(a.key, b.key) || a.index - b.index; });
    rows.forEach(function (each) { body.appendChild(each.row); });
  }
  all("table.t").forEach(function (table) {
    if (table.id === "all") return;
    all("th button", table).forEach(function (button) {
      button.addEventListener("click", function () { sortBy(table, button.parentNode); });
    });
  });
  all(".more button").forEach(function (button) {
    button.addEventListener("click", function () {
      var line = button.parentNode;
      line.previousElementSibling.querySelector("table").classList.add("allrows");
      line.remove();
    });
  });

  /* ---- charts: one tab stop, arrow keys go from mark to mark */

  function placeOf(mark) {
    var drawn = mark.querySelector("rect,line,circle");
    return parseFloat(drawn.getAttribute("x") || drawn.getAttribute("x1") || drawn.getAttribute("cx")) || 0;
  }
  function lineOf(svg) {
    var box = svg.closest(".narrow") || svg.closest("section");
    return box && all(".say", box).pop();
  }
  all("svg.marks").forEach(function (svg) {
    var marks = all(".mk", svg), at = -1, line = lineOf(svg);
    if (svg.classList.contains("tl")) marks.sort(function (a, b) { return placeOf(a) - placeOf(b); });
    function tell(mark) { if (line) line.textContent = mark.querySelector("title").textContent; }
    function go(to) {
      if (at >= 0) marks[at].classList.remove("on");
      at = Math.max(0, Math.min(marks.length - 1, to));
      marks[at].classList.add("on");
      tell(marks[at]);
      var scroll = svg.closest(".scroll");
      if (scroll) {
        var x = placeOf(marks[at]) / 100 * scroll.scrollWidth;
        if (x < scroll.scrollLeft || x > scroll.scrollLeft + scroll.clientWidth - 40) scroll.scrollLeft = x - scroll.clientWidth / 3;
      }
    }
    svg.addEventListener("keydown", function (event) {
      var to = event.key === "ArrowRight" ? at + 1 : event.key === "ArrowLeft" ? (at < 0 ? marks.length - 1 : at - 1) :
        event.key === "Home" ? 0 : event.key === "End" ? marks.length - 1 : undefined;
      if (to !== undefined && marks.length) { event.preventDefault(); go(to); }
      if (event.key === "Escape" && at >= 0) { marks[at].classList.remove("on"); at = -1; if (line) line.textContent = ""; }
    });
    svg.addEventListener("mouseover", function (event) {
      var mark = event.target.closest(".mk");
      if (mark) tell(mark);
    });
  });

  /* ---- what is too much for rows: gzip in base64 */

  function unpacked() {
    var packed = doc.getElementById("data");
    if (!packed || !self.DecompressionStream) return Promise.resolve(null);
    var raw = atob(packed.textContent), bytes = new Uint8Array(raw.length);
    for (var i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  }
  var UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;
  function seen(text) {
    return text.replace(UNSEEN, function (each) { return "\\u{" + each.codePointAt(0).toString(16) + "}"; });
  }
  function escaped(id) { try { return encodeURIComponent(id); } catch (error) { return ""; } }

  /* ---- the finder */

  function startFinder(form, data) {
    var table = doc.getElementById("all"), body = table.tBodies[0], count = doc.getElementById("count");
    var field = doc.getElementById("q"), more = doc.getElementById("more");
    var total = data.id.length, lower = null, hits = [], shown = 0, sort = { column: 4, up: false };

    function words(letter) {
      switch (letter) {
        case "c": return ["consumer", "consumer"];
        case "m": return ["half-way", "mixed"];
        case "k": return ["classic", "classic"];
        case "r": return ["rolled back", "classic"];
        case "e": return ["empty", "empty"];
        default: return ["cannot take part", "empty"];
      }
    }
    function team(i) { return data.t[i] < 0 ? null : data.teams[data.t[i]]; }
    function key(column, i) {
      switch (column) {
        case 0: return data.id[i];
        case 1: return "mrkcex".indexOf(data.ph[i]);
        case 2: return data.m[i] ? data.c[i] / data.m[i] : -1;
        case 3: return data.e[i];
        default: return team(i) === null ? "\uffff" : team(i);
      }
    }
    function row(i) {
      var line = make("tr"), cell = make("td", "g"), link = make("a"), phase = words(data.ph[i]);
      var id = make("bdi", "id", data.id[i] === "" ? "(empty)" : seen(data.id[i]));
      if (data.page[i]) link.href = data.prefix + "g/" + data.page[i] + ".html";
      else { link.href = "#group=" + escaped(data.id[i]); link.className = "plain"; }
      link.appendChild(id); cell.appendChild(link); line.appendChild(cell);
      var second = make("td"); second.appendChild(make("span", "ph k-" + phase[1], phase[0])); line.appendChild(second);
      line.appendChild(make("td", "r", data.m[i] ? data.c[i] + " of " + data.m[i] : "–"));
      line.appendChild(make("td", "r p1", grouped(data.e[i])));
      line.appendChild(make("td", data.s[i] ? "r t-stuck" : "r", data.s[i] ? grouped(data.s[i]) : "–"));
      line.appendChild(make("td", "p2", team(i) === null ? "–" : seen(team(i))));
      return line;
    }
    function show(howMany) {
      var rows = doc.createDocumentFragment(), to = Math.min(hits.length, shown + howMany);
      for (; shown < to; shown++) rows.appendChild(row(hits[shown]));
      body.appendChild(rows);
      more.hidden = shown >= hits.length;
    }
    function chosen() {
      return all("input[name=ph]", form).filter(function (box) { return box.checked; }).map(function (box) { return box.value; });
    }
    function fits(i, letters) {
      return !letters.length || letters.some(function (letter) {
        return letter === "s" ? data.s[i] > 0 : letter === data.ph[i] || (letter === "k" && data.ph[i] === "r");
      });
    }
    function run(exact) {
      var part = field.value.trim().toLowerCase(), letters = chosen();
      if (!lower) lower = data.id.map(function (id, i) { return (id + " " + (team(i) || "")).toLowerCase(); });
      hits = [];
      for (var i = 0; i < total; i++) {
        if (exact !== undefined ? data.id[i] !== exact : part && lower[i].indexOf(part) < 0) continue;
        if (fits(i, letters)) hits.push(i);
      }
      if (sort.column !== 4) {
        var keyed = hits.map(function (i) { return { key: key(sort.column, i), i: i }; });
        keyed.sort(function (a, b) { return compare(a.key, b.key) * (sort.up ? 1 : -1) || a.i - b.i; });
        hits = keyed.map(function (each) { return each.i; });
      } else if (sort.up) hits.reverse();
      body.textContent = ""; shown = 0; show(50);
      count.textContent = counted(hits.length);
      if (!hits.length) {
        var line = make("tr"), cell = make("td", "nil", exact !== undefined ? missing() : "No group matches.");
        cell.colSpan = 6; line.appendChild(cell); body.appendChild(line);
      }
    }
    /* data.total: groups of the night, of which the page may list a part. */
    function counted(found) {
      var part = data.total > total ? " of the " + grouped(total) + " that are listed here" : " of " + grouped(total) + " groups";
      if (found !== total) return grouped(found) + part;
      if (data.total > total) return grouped(total) + " of " + grouped(data.total) + " groups: those in trouble first";
      return grouped(total) + (total === 1 ? " group" : " groups");
    }
    function missing() {
      if (data.total > total) return "This group is not among the " + grouped(total) + " of " + grouped(data.total) + " groups that are listed here. It may be one of the others.";
      return "This group is not in this night: it was deleted, left out, or never there.";
    }
    function keep() {
      var params = new URLSearchParams(), letters = chosen().join("");
      if (field.value) params.set("q", field.value);
      if (letters) params.set("ph", letters);
      try { history.replaceState(null, "", String(params) ? "#" + params : "#groups"); } catch (error) { /* a publisher may forbid it */ }
    }
    function follow() {
      var hash = location.hash.slice(1);
      if (!/^(group|q|ph)=/.test(hash)) return;
      var params = new URLSearchParams(hash.replace(/\+/g, "%2B"));
      if (params.has("group")) {
        var id = params.get("group"), i = data.id.indexOf(id);
        if (i >= 0 && data.page[i]) { location.replace(data.prefix + "g/" + data.page[i] + ".html"); return; }
        field.value = id; run(id);
      } else {
        params = new URLSearchParams(hash);
        field.value = params.get("q") || "";
        var letters = params.get("ph") || "";
        all("input[name=ph]", form).forEach(function (box) { box.checked = letters.indexOf(box.value) >= 0; });
        run();
      }
      doc.getElementById("groups").scrollIntoView();
    }

    var wait;
    field.addEventListener("input", function () { clearTimeout(wait); wait = setTimeout(function () { run(); keep(); }, 80); });
    form.addEventListener("change", function (event) { if (event.target !== field) { run(); keep(); } });
    form.addEventListener("submit", function (event) { event.preventDefault(); });
    more.addEventListener("click", function () { show(200); });
    all("th", table).forEach(function (head, column) {
      head.querySelector("button").addEventListener("click", function () {
        var up = sort.column === column ? !sort.up : column === 0 || column === 5;
        sort = { column: column, up: up };
        all("th", table).forEach(function (other) { other.removeAttribute("aria-sort"); });
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        run();
      });
    });
    more.hidden = total <= body.rows.length;
    if (!more.hidden) run();
    window.addEventListener("hashchange", follow);
    follow();
  }

  var form = doc.getElementById("find");
  if (form) unpacked().then(function (data) {
    if (data) startFinder(form, data); else form.remove();
    root.classList.add("ready");
  });

  /* ---- the timeline: zoom is a width, so nothing is drawn again */

  function startTimeline(boxes, data) {
    var first = boxes[0], zoomed = 1, busy = false;
    boxes.forEach(function (box) {
      box.addEventListener("scroll", function () {
        if (busy) return;
        busy = true;
        boxes.forEach(function (other) { if (other !== box) other.scrollLeft = box.scrollLeft; });
        busy = false;
      });
      box.addEventListener("keydown", function (event) {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        if (event.key === "+" || event.key === "=") zoom(zoomed * 2);
        else if (event.key === "-") zoom(zoomed / 2);
        else if (event.key === "0") zoom(1);
      });
      box.addEventListener("wheel", function (event) {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        zoom(zoomed * (event.deltaY < 0 ? 1.25 : 0.8), event.clientX - box.getBoundingClientRect().left);
      }, { passive: false });
    });
    function zoom(to, from) {
      var width = first.clientWidth, fixed = from === undefined ? width / 2 : from;
      var place = (first.scrollLeft + fixed) / (width * zoomed);
      zoomed = Math.max(1, Math.min(256, to));
      boxes.forEach(function (box) {
        box.firstElementChild.style.width = zoomed === 1 ? "100%" : Math.round(width * zoomed) + "px";
        box.scrollLeft = place * width * zoomed - fixed;
      });
    }
    doc.getElementById("zi").addEventListener("click", function () { zoom(zoomed * 2); });
    doc.getElementById("zo").addEventListener("click", function () { zoom(zoomed / 2); });
    doc.getElementById("zf").addEventListener("click", function () { zoom(1); });
    function percent(ms) {
      for (var i = 0; i < data.stretches.length; i++) {
        var s = data.stretches[i];
        if (ms <= s[1]) return s[2] + Math.max(0, (ms - s[0]) / Math.max(s[1] - s[0], 1)) * s[3];
      }
      return 100;
    }
    function follow() {
      var found = /^#t=(\d+)$/.exec(location.hash);
      if (!found) return;
      if (zoomed < 8) zoom(8);
      first.scrollLeft = percent(+found[1]) / 100 * first.scrollWidth - first.clientWidth / 4;
      doc.getElementById("timeline").scrollIntoView();
    }
    window.addEventListener("hashchange", follow);
    follow();
  }

  var boxes = all(".scroll");
  if (!form) unpacked().then(function (data) {
    if (data && boxes.length) startTimeline(boxes, data);
    root.classList.add("ready");
  });
})();
