import assert from 'node:assert/strict';
import { test } from 'node:test';
import { junitReport } from '../../../src/cli/client/junit.ts';
import type { ExampleResult } from '../../../src/cli/client/run-examples.ts';

const result = (fields: Partial<ExampleResult>): ExampleResult => ({
  ...{ agent: 'A', example: 'one', line: 3, status: 'passed', problems: [], record: null },
  ...fields,
});
const recordOf = (outputText: string, latencyMs: number) =>
  ({ outputText, latencyMs }) as ExampleResult['record'];

test('a report has a suite per agent, with counts and times', () => {
  const results = [
    result({ record: recordOf('fine', 1_500) }),
    result({ status: 'failed', problems: ['x', 'y'], record: recordOf('', 250) }),
    result({ agent: 'B', status: 'error', problems: ['refused'] }),
  ];
  assert.equal(
    junitReport(results, 'f.yaml'),
    `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="cueline" tests="3" failures="1" errors="1" time="1.750">
  <testsuite name="A" tests="2" failures="1" errors="0" time="1.750">
    <testcase classname="A" name="one" file="f.yaml" line="3" time="1.500">
      <system-out>fine</system-out>
    </testcase>
    <testcase classname="A" name="one" file="f.yaml" line="3" time="0.250">
      <failure message="x">x\ny</failure>
    </testcase>
  </testsuite>
  <testsuite name="B" tests="1" failures="0" errors="1" time="0.000">
    <testcase classname="B" name="one" file="f.yaml" line="3" time="0.000">
      <error message="refused">refused</error>
    </testcase>
  </testsuite>
</testsuites>
`,
  );
});

test('any text is valid XML and keeps its characters as far as XML has them', () => {
  const text = '<a href="x">&\t\r\n\u0000\u001b\ud800 \ufffe 😀]]>';
  const report = junitReport([result({ example: text, record: recordOf(text, 1) })], 'f.yaml');
  const escaped = '&lt;a href=&quot;x&quot;&gt;&amp;';
  const rest = '\ufffd\ufffd\ufffd \ufffd 😀]]&gt;';
  assert.ok(report.includes(` name="${escaped}&#9;&#13;&#10;${rest}"`), report);
  assert.ok(report.includes(`<system-out>${escaped}\t&#13;\n${rest}</system-out>`), report);
});
