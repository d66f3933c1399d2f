import type { ProviderInput } from '../../client/index.ts';
import { CommandFailure } from './command-failure.ts';
import { readInput } from './input.ts';
import { print, printOne } from './print.ts';
import type { Call } from './run-call.ts';

/** `cueline providers put` and `test`. */

/** The settings come from a file, because other processes can see arguments. */
export async function putProvider(
  { cueline, signal, json }: Call,
  name: string,
  file: string,
): Promise<void> {
  const text = await readInput(file, signal);
  let settings: ProviderInput;
  try {
    settings = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    // The parser's message would quote the file.
    throw new CommandFailure(`${file} is not valid JSON.`);
  }
  await printOne(await cueline.providers.put(name, settings, { signal }), json);
}

/** Tests the connection, or calls a model and prints the request and the answer. Fails if the test fails. */
export async function testProvider(
  { cueline, signal, json }: Call,
  name: string,
  { model }: { readonly model?: string },
): Promise<void> {
  const tested = await cueline.providers.test(name, model === undefined ? {} : { model }, {
    signal,
  });
  if (json) await print(JSON.stringify(tested));
  else {
    const { request, answer, error, ...rest } = tested;
    const exchange = { ...(request && { request }), ...(answer && { answer }) };
    const texts = Object.entries(exchange).map(([part, value]) => [
      part,
      JSON.stringify(value, null, 2),
    ]);
    await printOne({ ...rest, ...error, ...Object.fromEntries(texts) }, false);
  }
  if (!tested.ok) throw new CommandFailure(`The test of the provider ${name} failed.`);
}
