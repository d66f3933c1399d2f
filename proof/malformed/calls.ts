import fc from 'fast-check';
import { endpoints } from '../../src/faces/reference/operations-index.ts';
import type { Endpoint } from '../../src/http/contract/operation.ts';
import { bearer, json, request, type Sent, type Targets, utf8 } from './attack.ts';
import { anything, nearly } from './texts.ts';

/** Nearly valid calls of every endpoint in the contract. */

export function nearValid(targets: Targets): fc.Arbitrary<Sent> {
  const invalid = fc.constantFrom(
    'x',
    '%00',
    '%ff',
    '..',
    '%2e%2e',
    '__proto__',
    'a'.repeat(9_000),
    '%F0%9F%98%80',
    'agt_1',
  );
  return fc.oneof(
    ...all.map((endpoint) => {
      const names = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
      const known = (name: string) =>
        (targets as unknown as Record<string, string | undefined>)[name] ?? 'own';
      const params = names.map((name) =>
        fc.oneof(
          { weight: 9, arbitrary: fc.constant(known(name)) },
          { weight: 1, arbitrary: invalid },
        ),
      );
      const isFile = endpoint.consumes !== undefined;
      const body = isFile
        ? file
        : endpoint.body
          ? nearly(endpoint.body)
          : fc.constantFrom(null, '{}', 'x');
      return fc.tuple(fc.tuple(...params), body, query(endpoint)).map(([values, text, search]) => {
        const path = names.reduce(
          (text, name, index) => text.replace(`{${name}}`, values[index] ?? ''),
          endpoint.path as string,
        );
        const sent = text === null ? null : utf8(text);
        const type = isFile ? 'Content-Type: application/jsonl' : json;
        return request(endpoint.method, path + search, [bearer(targets), type], sent);
      });
    }),
  );
}

/** JSON Lines, valid or not. */
const file: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      anything,
      anything.map((text) => `{"id":"1","variables":${text}}`),
      anything.map((text) => `{"id":${text},"variables":{"name":"x"}}`),
      fc.constantFrom(
        '',
        ' ',
        '{',
        '\r',
        '{"id":"1","variables":{"name":"x"},"user":1}',
        '\ufeff{}',
      ),
    ),
    { maxLength: 5 },
  )
  .map((lines) => lines.join('\n'));

const all: readonly Endpoint[] = Object.values(endpoints);

function query({ query: schema }: Endpoint): fc.Arbitrary<string> {
  const names = [
    ...Object.keys(schema?.properties ?? {}),
    'unknown',
    '__proto__',
    'limit',
    '',
    'a[b]',
  ];
  const values = fc.constantFrom(
    '1',
    '0',
    '-1',
    '101',
    '1e9',
    '99999999999999999999',
    '',
    '%00',
    '%',
    '%zz',
    '%ff%fe',
    '+',
    '2026-11-21',
    'success',
    'processing',
    '2026-99-99',
    'x'.repeat(300),
    '%ED%A0%80',
    'true',
    'NaN',
    '%22',
    '%27',
    'minute',
    'toString',
  );
  const pair = fc.tuple(fc.constantFrom(...names), values).map((both) => both.join('='));
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant('') },
    {
      weight: 1,
      arbitrary: fc.array(pair, { maxLength: 4 }).map((pairs) => `?${pairs.join('&')}`),
    },
  );
}
