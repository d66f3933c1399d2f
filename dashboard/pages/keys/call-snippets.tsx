import type { Agent } from '../../../src/client/index.ts';
import { CodeSnippets } from '../../components/code-snippets.tsx';
import { agentFields } from '../../data/agents/value-fields.ts';
import { serverURL } from '../../data/client/base-path.ts';
import {
  curlSnippet,
  keyVariable,
  pythonSnippet,
  typeScriptSnippet,
} from '../../data/text/call-snippets.ts';
import { ownProperty } from '../../data/text/own-property.ts';
import classes from './keys.module.css';

/** Runnable code with this agent's variables. */
export function CallSnippets({ agent }: { readonly agent: Agent }) {
  const call = [agent.agentId, sampleOf(agent), serverURL] as const;
  return (
    <CodeSnippets
      languages={[
        { label: 'curl', code: curlSnippet(...call) },
        { label: 'TypeScript', code: typeScriptSnippet(...call) },
        { label: 'Python', code: pythonSnippet(...call) },
      ]}
    >
      <p className={classes.muted}>
        The code reads the key from the environment variable <code>{keyVariable}</code>. The call
        returns immediately; poll its <code>statusUrl</code> for the result.
      </p>
    </CodeSnippets>
  );
}

/** Example values for all declared variables: the default or a placeholder text. */
function sampleOf(agent: Agent): Record<string, unknown> {
  return Object.fromEntries(
    agentFields(agent).map(({ name }) => [
      name,
      ownProperty(agent.defaultVariableValues, name) ?? `your ${name}`,
    ]),
  );
}
