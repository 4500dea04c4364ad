/** The files of `src`, for the tests that hold rules about all of them. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

const SRC = join(import.meta.dirname, "..");

/** The sources whose name ends with one of `endings`, as paths under `src` with their text; without tests. */
export function sources(...endings: string[]): { path: string; text: string }[] {
  return readdirSync(SRC, { recursive: true, encoding: "utf8" })
    .filter((path) => endings.some((ending) => path.endsWith(ending)) && !/\.test\.tsx?$/.test(path))
    .map((path) => join(SRC, path))
    .map((file) => ({
      path: relative(SRC, file).replaceAll(sep, "/"),
      text: readFileSync(file, "utf8"),
    }));
}
