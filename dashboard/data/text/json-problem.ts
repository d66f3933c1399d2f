/** What is wrong with a JSON text, and in which line, if the browser tells; null if it is valid. */
export function jsonProblem(text: string): { message: string; line: number | null } | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    const line = lineOf(text, error instanceof Error ? error.message : '');
    return { message: line === null ? 'Not valid JSON.' : `Not valid JSON: line ${line}.`, line };
  }
}

/** Browsers name the position or the line. At the end of the text, Chromium names neither. */
function lineOf(text: string, message: string): number | null {
  const named = /line (\d+)/.exec(message)?.[1];
  if (named) return Number(named);
  const position = /position (\d+)/.exec(message)?.[1];
  if (position) return text.slice(0, Number(position)).split('\n').length;
  return /end of/i.test(message) ? text.trimEnd().split('\n').length : null;
}
