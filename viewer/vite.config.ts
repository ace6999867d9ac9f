import { defineConfig } from "vite";

// One script and one style sheet with fixed names: the server embeds them, and the HTML export puts
// both into its one file, so nothing may be split off or inlined into the page.
export default defineConfig({
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    reportCompressedSize: true,
    rollupOptions: {
      output: {
        codeSplitting: false,
        entryFileNames: "viewer.js",
        assetFileNames: "viewer[extname]",
      },
    },
  },
});
