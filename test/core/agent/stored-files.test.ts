import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { fileProblem, readDataUrl, readStoredFile } from '../../../src/core/agent/file-value.ts';
import { malformedFile, restoreFiles, storeFiles } from '../../../src/core/agent/stored-files.ts';
import { readVariables, type Variables } from '../../../src/core/agent/variables.ts';

const bytes = Buffer.from('89504e470d0a1a0a', 'hex');
const png = `data:image/png;base64,${bytes.toString('base64')}`;
const sha256 = createHash('sha256').update(bytes).digest('hex');
const reference = `data:image/png;bytes=8;sha256=${sha256}`;

function variablesOf(json: string): Variables {
  const body = readVariables(json);
  assert.ok(body.kind === 'variables');
  return body.variables;
}

describe('a value', () => {
  const valid = [
    ['image', png],
    ['image', 'DATA:IMAGE/PNG;charset=binary;BASE64,iVBORw0KGgo'],
    ['image', 'https://cdn.example/a.png?signature=b'],
    ['file', 'data:text/plain,Hello%20you'],
    ['file', 'https://cdn.example/a'],
    ['file', 'data:;base64,aGk='],
    ['file', 'data:,hi'],
    ['file', 'data:nonsense,hi'],
    ['file', 'data:text/plain;base64,aGk=\n'],
    ['file', 'data:text/plain,ä'],
    ['image', ' \tdata:image/png;base64,iVBORw0KGgo'],
    ['image', 'data:image/svg+xml;charset=utf-8,<svg xmlns="http://www.w3.org/2000/svg"/>'],
  ] as const;
  for (const [kind, value] of valid) {
    test(`is ${kind}: ${value}`, () => assert.equal(fileProblem(kind, value), null));
  }

  const invalid = [
    ['image', 'data:application/pdf;base64,JVBERi0=', /media type application\/pdf/],
    ['image', 'photo', /an https URL or a data URL/],
    ['image', '', /an https URL or a data URL/],
    ['image', 7, /an https URL or a data URL/],
    ['image', ['a'], /an https URL or a data URL/],
    ['image', 'http://cdn.example/a.png', /https URL/],
    ['image', 'file:///etc/passwd', /https URL/],
    ['image', 'https://user:word@cdn.example/a.png', /without user name/],
    ['image', `https://cdn.example/${'a'.repeat(8_192)}`, /at most 8192 characters/],
    ['file', 'data:text/plain;base64,', /valid base64/],
    ['file', 'data:text/plain;base64,aGk==', /valid base64/],
    ['file', 'data:text/plain;base64,a', /valid base64/],
    ['file', 'data:text/plain;base64,a-_=', /valid base64/],
    ['image', 'data:;base64,iVBORw0KGgo', /media type text\/plain/],
    ['file', 'data:text/plain;base64', /valid base64/],
    ['file', 'data:text/plain#,hi', /valid base64/],
    ['image', reference, /data URL needs/],
  ] as const;
  for (const [kind, value, problem] of invalid) {
    test(`is no ${kind}: ${JSON.stringify(value).slice(0, 80)}`, () =>
      assert.match(fileProblem(kind, value) ?? 'valid', problem));
  }

  test('is read as a media type and padded base64', () => {
    assert.deepEqual(readDataUrl('data:Text/Plain,Hello%20you'), {
      type: 'text/plain',
      base64: Buffer.from('Hello you').toString('base64'),
    });
    assert.deepEqual(readDataUrl('data:text/plain;base64,aGk'), {
      ...{ type: 'text/plain', base64: 'aGk=' },
    });
    assert.equal(readDataUrl('https://cdn.example'), null);
  });
});

describe('a data URL is decoded as the Fetch standard says', () => {
  const cases: [string, string, string | number[]][] = [
    ['data:text/plain;charset=utf-8;base64,aGk=', 'text/plain', 'hi'],
    ['data:text/plain;name="a;b";BASE64,aGk=', 'text/plain', 'hi'],
    ['data:text/plain;  base64,aGk=', 'text/plain', 'hi'],
    ['data:text/plain;base64;x=1,aGk=', 'text/plain', 'aGk='],
    ['data:text/plain;base64 ,aGk=', 'text/plain', 'hi'],
    ['data:;charset=utf-8,a%20b', 'text/plain', 'a b'],
    ['data:,%41%4a%zz%', 'text/plain', 'AJ%zz%'],
    ['data:image/PNG;base64,aG k\n\t=', 'image/png', 'hi'],
    ['data:image/png;base64,aG%6B%3D', 'image/png', 'hi'],
    ['data:image/png;base64,aGl=', 'image/png', 'hi'],
    ['data:a/b,1#2', 'a/b', '1'],
    ['DATA:a/b,%FF\n', 'a/b', [255]],
    ['data:a/b,\u00e9', 'a/b', '\u00e9'],
    ['data:a b/c,x', 'text/plain', 'x'],
    ['data: a/b ;c=d,x', 'a/b', 'x'],
  ];
  for (const [url, type, contents] of cases) {
    test(JSON.stringify(url), async () => {
      const expected = Buffer.from(contents as string);
      assert.deepEqual(readDataUrl(url), { type, base64: expected.toString('base64') });
      assert.deepEqual(readStoredFile(url), readDataUrl(url));
      // Node fetches data URLs by the same standard, with the parameters of the type.
      const response = await fetch(url);
      assert.deepEqual(Buffer.from(await response.arrayBuffer()), expected);
    });
  }
});

test('the first malformed file is named; null is none', () => {
  const fileVariables = { photo: 'image', contract: 'file' } as const;
  const check = (values: object) =>
    malformedFile({ fileVariables }, variablesOf(JSON.stringify(values)));
  assert.equal(check({ photo: png, contract: null }), null);
  assert.equal(check({}), null);
  assert.equal(check({ photo: png, contract: 'x' })?.variable, 'contract');
  assert.match(check({ photo: 'x' })?.problem ?? '', /^must be an image/);
});

test('data URLs are stored once, and the variables are restored as they were sent', () => {
  const list = JSON.stringify([{ role: 'user', content: [{ image: png }, { text: 'b' }] }]);
  const json = `{"n":1.50,"photo":"${png}","2":"a","again":"${png}","url":"https://a.example/b","history":${list}}`;
  const stored = storeFiles(
    {
      fileVariables: { photo: 'image', again: 'image', url: 'file', logo: 'image' },
      messageLists: ['history'],
      defaults: { logo: png },
    },
    variablesOf(json),
  );
  assert.equal(stored.json, json.replaceAll(png, reference));
  assert.deepEqual(JSON.parse(stored.fileData ?? ''), { [reference]: png });
  const info = { type: 'image/png', bytes: 8, sha256 };
  assert.deepEqual(JSON.parse(stored.files ?? ''), [
    { variable: 'photo', ...info },
    { variable: 'again', ...info },
    { variable: 'url' },
    { variable: 'logo', ...info },
    { variable: 'history', ...info },
  ]);
  assert.equal(restoreFiles(stored.json, stored.fileData), json);
});

test('a file is stored in base64, whatever form it was sent in', () => {
  const stored = 'data:image/png;base64,iVBORw==';
  const forms = [
    'data:image/png,%89PNG',
    'data:image/PNG;name="a";base64,iVBO\nRw',
    'DATA:image/png;BASE64,iVBORw%3D%3d',
    'data:image/png;base64,iVBORx==',
    stored,
  ];
  for (const photo of forms) {
    const sent = variablesOf(JSON.stringify({ photo, note: 'x' }));
    const use = { fileVariables: { photo: 'image' }, messageLists: [], defaults: {} } as const;
    const { json, fileData } = storeFiles(use, sent);
    assert.deepEqual(JSON.parse(restoreFiles(json, fileData)), { photo: stored, note: 'x' }, photo);
    assert.deepEqual(readStoredFile(photo), { type: 'image/png', base64: 'iVBORw==' });
  }
});

test('without files, nothing is stored', () => {
  const json = `{"text":"${png}"}`;
  const none = { fileVariables: {}, messageLists: ['history'], defaults: {} };
  assert.deepEqual(storeFiles(none, variablesOf(json)), { json, files: null, fileData: null });
});
