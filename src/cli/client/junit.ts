import type { ExampleResult } from './run-examples.ts';

/** The report of `cueline test` in the format of JUnit, as CI servers read it: a suite per agent. */

export function junitReport(results: readonly ExampleResult[], file: string): string {
  const suites = [...Map.groupBy(results, ({ agent }) => agent)].map(
    ([agent, those]) =>
      `  <testsuite${attributes({ name: agent, ...countsOf(those) })}>\n` +
      `${those.map((one) => testCase(one, file)).join('')}  </testsuite>\n`,
  );
  const head = '<?xml version="1.0" encoding="UTF-8"?>\n';
  const root = attributes({ name: 'cueline', ...countsOf(results) });
  return `${head}<testsuites${root}>\n${suites.join('')}</testsuites>\n`;
}

function countsOf(results: readonly ExampleResult[]) {
  const count = (status: ExampleResult['status']) =>
    results.filter((one) => one.status === status).length;
  return {
    tests: results.length,
    failures: count('failed'),
    errors: count('error'),
    time: results.reduce((sum, one) => sum + secondsOf(one), 0).toFixed(3),
  };
}

function secondsOf({ record }: ExampleResult): number {
  return (record?.latencyMs ?? 0) / 1_000;
}

function testCase(result: ExampleResult, file: string): string {
  const { agent, example, line, status, problems, record } = result;
  const time = secondsOf(result).toFixed(3);
  const head = attributes({ classname: agent, name: example, file, line, time });
  const tag = status === 'failed' ? 'failure' : 'error';
  const [message = ''] = problems;
  const outcome =
    status === 'passed'
      ? ''
      : `      <${tag}${attributes({ message })}>${escaped(problems.join('\n'))}</${tag}>\n`;
  const output = record?.outputText;
  const out = output ? `      <system-out>${escaped(output)}</system-out>\n` : '';
  return `    <testcase${head}>\n${outcome}${out}    </testcase>\n`;
}

function attributes(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values)
    .map(
      ([name, value]) => ` ${name}="${escaped(String(value)).replaceAll(/[\n\r\t]/g, reference)}"`,
    )
    .join('');
}

/** XML 1.0 has no form for other characters, not even escaped. */
const impossible = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const marks: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

function escaped(text: string): string {
  return text
    .replaceAll(impossible, '\ufffd')
    .replaceAll(/[&<>"]/g, (mark) => marks[mark] ?? mark)
    .replaceAll('\r', reference);
}

/** A parser changes these characters where they are not escaped. */
function reference(character: string): string {
  return `&#${character.charCodeAt(0)};`;
}
