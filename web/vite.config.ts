import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

function served() {
  const target = "http://127.0.0.1:7373";
  return { target, changeOrigin: true, headers: { origin: target } };
}

// The server's policy is `default-src 'self'`: nothing is inlined, nothing is preloaded by an inline script.
export default defineConfig({
  base: "/",
  plugins: [react()],
  build: {
    outDir: "../src/sestet/server/page",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
    reportCompressedSize: false,
  },
  // `npm run dev` beside a running `sestet serve`.
  server: { proxy: { "/api": served(), "/enter": served() } },
  test: { include: ["tests/unit/**/*.test.{ts,tsx}"] },
});
