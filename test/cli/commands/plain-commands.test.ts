import assert from 'node:assert/strict';
import { test } from 'node:test';
import { program } from '../../../src/cli/commands/program.ts';
import { plainOperations } from '../../../src/cli/commands/server-command.ts';
import { endpoints } from '../../../src/faces/reference/operations-index.ts';
import type { Endpoint } from '../../../src/http/contract/operation.ts';

/** Plain commands are the operations of the contract: their arguments, options and columns exist there. */

const ofEveryCommand = ['json', 'url', 'key'];

test('each plain command takes what its operation takes', () => {
  assert.ok(program.commands.length > 0);
  assert.ok(plainOperations.size > 10);
  for (const [command, selection] of plainOperations) {
    const [id = '', field] = selection.split('.');
    const e = (endpoints as Readonly<Record<string, Endpoint>>)[id];
    assert.ok(e, `${command.name()} calls ${id}`);
    const inputs = propertiesOf(e.query ?? e.body);
    const options = command.options
      .map((option) => option.attributeName())
      .filter((name) => !ofEveryCommand.includes(name));
    assert.deepEqual(
      options.filter((name) => !inputs.includes(name)),
      [],
      command.name(),
    );
    const params = e.path.split('{').length - 1;
    const ofField = command.registeredArguments.length - params;
    assert.ok(ofField === 0 || (ofField === 1 && inputs.length > 0), command.name());
    if (field) assert.ok(propertiesOf(e.responses[200]).includes(field), `${id} ${field}`);
  }
});

function propertiesOf(schema: unknown): string[] {
  return Object.keys((schema as { properties?: object } | null | undefined)?.properties ?? {});
}
