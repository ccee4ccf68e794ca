// Sets the theme before the first paint, so that it never flashes. `auto` follows the system.
(function () {
  var dark = matchMedia("(prefers-color-scheme: dark)");
  function apply() {
    var chosen = null;
    try {
      chosen = localStorage.getItem("sestet.theme");
    } catch (error) {
      // Storage is off: follow the system.
    }
    var isDark = chosen === "dark" || (chosen !== "light" && dark.matches);
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
  }
  apply();
  dark.addEventListener("change", apply);
  addEventListener("sestet-theme", apply);
  addEventListener("storage", apply);
})();
