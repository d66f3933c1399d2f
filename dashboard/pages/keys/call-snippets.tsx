import { SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import type { Agent } from '../../../src/client/index.ts';
import { curlOf, keyVariable, pythonOf, typeScriptOf } from '../../data/call-snippets.ts';
import { own } from '../../data/own.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import classes from './keys.module.css';

const languages = [
  { value: 'curl', label: 'curl', write: curlOf },
  { value: 'typescript', label: 'TypeScript', write: typeScriptOf },
  { value: 'python', label: 'Python', write: pythonOf },
] as const;

/** Code that runs as it is pasted, with this agent's own variables. */
export function CallSnippets({ agent }: { readonly agent: Agent }) {
  const [chosen, choose] = useState<string>('curl');
  const { label, write } = languages.find(({ value }) => value === chosen) ?? languages[0];
  return (
    <div className={classes.snippets}>
      <SegmentedControl
        size="xs"
        aria-label="Language"
        data={languages.map(({ value, label }) => ({ value, label }))}
        value={chosen}
        onChange={choose}
      />
      <CodeBlock label={label} code={write(agent.agentId, sampleOf(agent), location.origin)} />
      <p className={classes.none}>
        The key is read from the environment variable <code>{keyVariable}</code>. The call is
        answered at once; the outcome follows at its <code>statusUrl</code>.
      </p>
    </div>
  );
}

/** Every variable the agent declares: its default where it has one, else what to put there. */
function sampleOf(agent: Agent): Record<string, unknown> {
  const names = [...agent.requiredVariables, ...agent.optionalVariables];
  return Object.fromEntries(
    names.map((name) => [name, own(agent.defaultVariableValues, name) ?? `your ${name}`]),
  );
}
