import { fastFormats, fullFormats } from 'ajv-formats/dist/formats.js';

/** The formats of texts that are checked; others are ignored. */

/** Longer texts do not match a format, whose patterns are JavaScript's own. */
const formatCharsMax = 2_000;

type Check = (text: string) => boolean;

export const formats: Readonly<Record<string, Check>> = Object.fromEntries(
  [...Object.entries(fastFormats), ['emoji', isEmoji] as const].flatMap(([name, fast]) => {
    // The fast form of a date accepts February 30.
    const exact = /date|time/.test(name) ? fullFormats[name as keyof typeof fullFormats] : fast;
    const check = checkOf(exact);
    if (name === 'regex' || check === null) return [];
    return [[name, (text: string) => text.length <= formatCharsMax && check(text)]];
  }),
);

export function isKnownFormat(name: unknown): boolean {
  return typeof name === 'string' && Object.hasOwn(formats, name);
}

function checkOf(format: unknown): Check | null {
  if (format instanceof RegExp) return (text) => format.test(text);
  if (typeof format === 'function') return format as Check;
  const { validate, type } = Object(format) as { validate?: unknown; type?: unknown };
  return type === 'number' || validate === undefined ? null : checkOf(validate);
}

/** Zod's, whose own pattern looks ahead. */
function isEmoji(text: string): boolean {
  return (
    /^[\p{Extended_Pictographic}\p{Emoji_Component}]+$/u.test(text) &&
    /\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20E3/u.test(text)
  );
}
