import { requireSchema, schemaValidator } from '../schema/schema-validator.ts';
import { oneJsonIn, wholeJson } from '../workflow/json-in-text.ts';

/** What an output must be: JSON that matches a schema. A version sets it, an agent may override it. */
export interface ResponseFormat {
  readonly type: 'json';
  readonly schema: Readonly<Record<string, unknown>>;
}

/** With its fields in one order, so that equal formats have equal texts. */
export function responseFormatOf(given: ResponseFormat | null | undefined): ResponseFormat | null {
  return given ? { type: given.type, schema: given.schema } : null;
}

/** @throws {CallFailure} if the schema is not valid */
export function requireResponseFormat(field: string, format: ResponseFormat | null): void {
  if (format !== null) requireSchema(`${field}.schema`, format.schema);
}

/** The JSON of an output as compact text with the numbers as written, or why it does not match. */
export type OutputJson =
  | { readonly kind: 'json'; readonly json: string }
  | { readonly kind: 'mismatch'; readonly problem: string };

/**
 * Reads the output of a model. JSON is found as references of workflows find it: the whole text apart from one code fence,
 * else the one object or array in it. What a model writes around it is no reason to pay for another answer.
 * @param finishReason `length` if the output was cut off
 */
export function readOutputJson(
  { schema }: ResponseFormat,
  output: string,
  finishReason: string,
): OutputJson {
  const json = wholeJson(output) ?? jsonWithin(output);
  if (json === null) {
    const cut = finishReason === 'length' ? ': it was cut off at the token limit' : '';
    return { kind: 'mismatch', problem: `it is not JSON${cut}` };
  }
  const mismatch = schemaValidator(JSON.stringify(schema))(JSON.parse(json), json.length);
  if (mismatch === null) return { kind: 'json', json };
  const { path, message } = mismatch;
  const place = path === '' ? 'the value' : path.slice(0, placeCharsMax);
  return { kind: 'mismatch', problem: `${place} ${message}` };
}

/**
 * The message that tells a model why its answer was not accepted.
 * @param problem a sentence
 */
export function correctionText(problem: string): string {
  return `Your previous answer was not accepted. ${problem} Answer again, with nothing but JSON that matches the schema.`;
}

const placeCharsMax = 200;

function jsonWithin(output: string): string | null {
  const found = oneJsonIn(output);
  return found.kind === 'json' ? found.json : null;
}
