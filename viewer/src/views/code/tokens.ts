/** Source text in parts that are set apart: comments, strings, keywords, numbers. No more than eyes
 * need. */

export type Language = "c" | "fortran" | "python" | "plain";

export interface Token {
  kind: "text" | "comment" | "string" | "keyword" | "number" | "directive";
  text: string;
  /** Whether a comment goes on in the next line. */
  open?: boolean;
}

const EXTENSIONS: Record<Exclude<Language, "plain">, RegExp> = {
  c: /\.(c|cc|cpp|cxx|c\+\+|h|hh|hpp|hxx|cu|cuh|inc)$/i,
  fortran: /\.(f|for|ftn|f77|f90|f95|f03|f08)$/i,
  python: /\.py$/i,
};

export function languageOf(path: string): Language {
  const known = (Object.keys(EXTENSIONS) as (keyof typeof EXTENSIONS)[]).find((language) =>
    EXTENSIONS[language].test(path),
  );
  return known ?? "plain";
}

const words = (text: string) => new Set(text.split(" "));

const KEYWORDS: Record<Language, Set<string>> = {
  c: words(
    "auto bool break case catch char class const constexpr continue default delete do double else enum extern false float for " +
      "goto if inline int long namespace new nullptr operator private protected public register restrict return short signed " +
      "sizeof static struct switch template this throw true try typedef typename union unsigned using virtual void volatile " +
      "while size_t __global__ __device__ __shared__ __host__ __restrict__",
  ),
  fortran: words(
    "allocatable allocate associate block call case class close contains cycle deallocate dimension do else elseif elsewhere end " +
      "enddo endif exit function go goto if implicit import inquire integer intent interface kind logical module none nullify only " +
      "open optional parameter pointer private procedure program public real recursive result return save select stop subroutine " +
      "target then type use value where while character complex double precision",
  ),
  python: words(
    "and as assert async await break class continue def del elif else except False finally for from global if import in is " +
      "lambda None nonlocal not or pass raise return True try while with yield",
  ),
  plain: new Set(),
};

const PATTERNS: Record<Exclude<Language, "plain">, RegExp> = {
  c: /(?<comment>\/\/.*|\/\*.*?(?:\*\/|$))|(?<string>"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?)|(?<directive>^\s*#\s*\w+)|(?<word>[A-Za-z_]\w*)|(?<number>\b\d[\w.]*)/g,
  fortran:
    /(?<comment>!.*)|(?<string>"[^"]*"?|'[^']*'?)|(?<directive>^\s*#\s*\w+)|(?<word>[A-Za-z_]\w*)|(?<number>\b\d[\w.]*)/g,
  python:
    /(?<comment>#.*)|(?<string>"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?)|(?<directive>^\s*@\w+)|(?<word>[A-Za-z_]\w*)|(?<number>\b\d[\w.]*)/g,
};

/** The parts of a line; `inside` says that it begins within a comment. */
export function tokens(line: string, language: Language, inside: boolean): Token[] {
  if (language === "plain") return [{ kind: "text", text: line }];
  if (inside) {
    const end = line.indexOf("*/");
    if (end < 0) return [{ kind: "comment", text: line, open: true }];
    return [{ kind: "comment", text: line.slice(0, end + 2) }, ...tokens(line.slice(end + 2), language, false)];
  }
  const parts: Token[] = [];
  let at = 0;
  const plain = (to: number) => to > at && parts.push({ kind: "text", text: line.slice(at, to) });
  for (const match of line.matchAll(PATTERNS[language])) {
    const groups = match.groups ?? {};
    const text = match[0];
    const word = groups.word !== undefined;
    if (word && !KEYWORDS[language].has(language === "fortran" ? text.toLowerCase() : text)) continue;
    plain(match.index);
    const kind = word
      ? "keyword"
      : groups.comment !== undefined
        ? "comment"
        : groups.string !== undefined
          ? "string"
          : groups.directive !== undefined
            ? "directive"
            : "number";
    const open = text.startsWith("/*") && !(text.length >= 4 && text.endsWith("*/"));
    parts.push(open ? { kind, text, open } : { kind, text });
    at = match.index + text.length;
  }
  plain(line.length);
  return parts;
}
