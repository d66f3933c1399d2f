import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { type ByRoleOptions, fireEvent, queries } from '@testing-library/dom';
import type { Element, HTMLElement, HTMLInputElement, HTMLSelectElement } from 'happy-dom';

/**
 * Elements of a page in a DOM, found and used as with Playwright: a text matches a part, an action waits for its element,
 * and `waitFor` for what appears or disappears.
 */
export interface Locator {
  getByRole(role: string, options?: Named): Locator;
  getByText(text: string | RegExp, options?: Exact): Locator;
  getByLabel(text: string | RegExp, options?: Exact): Locator;
  getByPlaceholder(text: string): Locator;
  filter(options: { readonly hasText: string | RegExp }): Locator;
  first(): Locator;
  last(): Locator;
  nth(index: number): Locator;
  waitFor(options?: { readonly state?: 'hidden' | 'detached' | 'visible' }): Promise<void>;
  click(): Promise<void>;
  check(): Promise<void>;
  fill(text: string): Promise<void>;
  /** By value or label. */
  selectOption(option: string): Promise<void>;
  count(): Promise<number>;
  innerText(): Promise<string>;
  inputValue(): Promise<string>;
  isDisabled(): Promise<boolean>;
}

interface Exact {
  readonly exact?: boolean;
}
interface Named extends Exact {
  readonly name?: string | RegExp;
}
type Find = () => HTMLElement[];

/** Longer than anything takes on a slow machine, as in a browser (`harness.ts`). */
const timeoutMs = 120_000;
const pollMs = 50;

export function locate(find: Find): Locator {
  const inside = (query: (element: HTMLElement) => HTMLElement[]) =>
    locate(() => [...new Set(find().flatMap(query))]);
  const at = (index: number) => locate(() => find().slice(index).slice(0, 1));
  const only = () => {
    const [element, ...others] = find();
    assert.ok(element, 'no such element');
    assert.equal(others.length, 0, `${others.length + 1} elements match`);
    return element;
  };
  const one = () => until(only);
  /** Actions wait for it: a click on a disabled button is lost. */
  const enabled = () =>
    until(() => {
      const element = only();
      assert.ok(!element.hasAttribute('disabled'), 'is disabled');
      return element;
    });
  return {
    getByRole: (role, options) => inside((within) => byRole(within, role, options)),
    getByText: (text, options) => inside((within) => byText(within, pattern(text, options))),
    getByLabel: (text, options) =>
      inside((within) => queries.queryAllByLabelText(within, pattern(text, options))),
    getByPlaceholder: (text) =>
      inside((within) => queries.queryAllByPlaceholderText(within, pattern(text))),
    filter: ({ hasText }) =>
      locate(() => find().filter(({ textContent }) => pattern(hasText).test(textContent ?? ''))),
    first: () => at(0),
    last: () => at(-1),
    nth: at,
    ...{ waitFor: (options) => appears(find, options?.state ?? 'visible') },
    click: async () => void fireEvent.click(await enabled()),
    check: async () => void fireEvent.click(await enabled()),
    fill: async (value) => void fireEvent.change(await enabled(), { target: { value } }),
    selectOption: async (option) => select((await enabled()) as HTMLSelectElement, option),
    count: async () => find().length,
    innerText: async () => (await one()).textContent ?? '',
    inputValue: async () => ((await one()) as HTMLInputElement).value,
    isDisabled: async () => (await one()).hasAttribute('disabled'),
  };
}

/** The result of a check once it no longer throws. */
async function until<Result>(check: () => Result): Promise<Result> {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    try {
      return check();
    } catch (error) {
      if (performance.now() > endMs) throw error;
    }
    await setTimeout(pollMs);
  }
}

async function appears(find: Find, state: 'hidden' | 'detached' | 'visible'): Promise<void> {
  const expected = state === 'visible';
  await until(() => assert.equal(find().length > 0, expected, `is not ${state}`));
}

async function select(element: HTMLSelectElement, wanted: string): Promise<void> {
  const option = await until(() => {
    const found = [...element.options].find(({ value, text }) => [value, text].includes(wanted));
    assert.ok(found, `no option ${wanted}`);
    return found;
  });
  fireEvent.change(element, { target: { value: option.value } });
}

function byRole(within: HTMLElement, role: string, { name, ...rest }: Named = {}): HTMLElement[] {
  const options: ByRoleOptions = {
    hidden: true,
    ...(name !== undefined && { name: pattern(name, rest) }),
  };
  return queries.queryAllByRole(within, role, options);
}

/** The innermost elements with the text. */
function byText(within: HTMLElement, text: RegExp): HTMLElement[] {
  const matches = ({ textContent }: Element) => text.test((textContent ?? '').replace(/\s+/g, ' '));
  return [...within.querySelectorAll<HTMLElement>('*')].filter(
    (element) => matches(element) && ![...element.children].some(matches),
  );
}

/** As in Playwright: a part of the text in any case, unless it is exact. */
function pattern(text: string | RegExp, { exact = false }: Exact = {}): RegExp {
  if (text instanceof RegExp) return text;
  const literal = RegExp.escape(text);
  return exact ? new RegExp(`^\\s*${literal}\\s*$`) : new RegExp(literal, 'i');
}
