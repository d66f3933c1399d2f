/** What is wrong with a JSON text, and in which line; null if it is valid. */
export function jsonProblem(text: string): { message: string; line: number } | null {
  if (isBegun(text) === 'whole') return null;
  const lines = text.trimEnd().split('\n').slice(0, linesMax);
  const wrong = lines.findIndex(
    (_, index) => isBegun(lines.slice(0, index + 1).join('\n')) === 'wrong',
  );
  // Otherwise something is missing at the end.
  const line = wrong < 0 ? lines.length : wrong + 1;
  return { message: `Not valid JSON: line ${line}.`, line };
}

const linesMax = 2_000;

/** Browsers differ in whether they name a position, but all say that a text ends too early. */
function isBegun(text: string): 'whole' | 'begun' | 'wrong' {
  try {
    JSON.parse(text);
    return 'whole';
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    const position = Number(/position (\d+)/.exec(message)?.[1] ?? Number.NaN);
    const isAtEnd = /end of|unterminated/i.test(message) || position >= text.length;
    return isAtEnd ? 'begun' : 'wrong';
  }
}
