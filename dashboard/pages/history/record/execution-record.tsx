import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { CodeBlock } from '../../../components/code/code-block.tsx';
import { CopyButton } from '../../../components/code/copy-button.tsx';
import { ExecutionBadge } from '../../../components/states/status-badge.tsx';
import { type ExecutionDetail, isInProgress } from '../../../data/executions/executions.ts';
import { useLiveText } from '../../../data/executions/follow-execution.ts';
import { shortenDataUrls } from '../../../data/executions/sent-files.ts';
import { stringify } from '../../../data/text/exact-json.ts';
import { searchPattern } from '../highlight.tsx';
import { FailureCard } from './failure-card.tsx';
import { Figures } from './figures.tsx';
import { indentJson } from './json-text.ts';
import { Lineage } from './lineage.tsx';
import { Output } from './output.tsx';
import { Provenance } from './provenance.tsx';
import classes from './record.module.css';
import { RecordActions } from './record-actions.tsx';
import { SentEvents } from './sent-events.tsx';
import { SentMessages } from './sent-messages.tsx';
import { Timeline } from './timeline.tsx';

/** All details of one execution: what it said and was sent, beside one column of figures. */
export function ExecutionRecord(props: {
  readonly execution: ExecutionDetail;
  /** Names the agent and the status; the header of a page does. */
  readonly heading?: boolean;
  /** The search that found it. */
  readonly q?: string | undefined;
  /** Its stream has ended. */
  readonly onEnded: () => void;
  readonly onDeleted: () => Promise<void>;
  readonly onStarted: (executionId: string) => void;
}) {
  const { execution, heading = false, q } = props;
  const pattern = useMemo(() => searchPattern(q), [q]);
  return (
    <article className={classes.record}>
      <header className={classes.head}>
        {heading && (
          <div className={classes.title}>
            <ExecutionBadge execution={execution} />
            <h2 dir="auto">
              <Link to="/agents/$agentId" params={{ agentId: execution.agentId }}>
                {execution.agentName}
              </Link>
            </h2>
          </div>
        )}
        <FailureCard execution={execution} />
        <div className={classes.id}>
          <code>{execution.executionId}</code>
          <CopyButton text={execution.executionId} name="execution ID" />
        </div>
        <RecordActions {...props} />
      </header>
      <div className={classes.columns}>
        <div className={classes.figures}>
          <Figures execution={execution} />
        </div>
        <div className={classes.contents}>
          <Answer execution={execution} pattern={pattern} onEnded={props.onEnded} />
          <Timeline execution={execution} />
          <Bodies execution={execution} />
        </div>
        <div className={classes.about}>
          <Provenance execution={execution} />
          <Lineage execution={execution} />
          <SentEvents execution={execution} />
        </div>
      </div>
    </article>
  );
}

function Answer(props: {
  readonly execution: ExecutionDetail;
  readonly pattern: RegExp | null;
  readonly onEnded: () => void;
}) {
  const { execution, pattern, onEnded } = props;
  const { agentId, executionId, outputText, outputJson } = execution;
  const liveText = useLiveText(agentId, executionId, isInProgress(execution), onEnded);
  if (isInProgress(execution)) {
    return liveText === '' ? null : <CodeBlock label="Output so far" code={liveText} />;
  }
  if (outputText !== undefined) {
    return <Output text={outputText} value={outputJson} pattern={pattern} name={executionId} />;
  }
  if (execution.status !== 'success') return null;
  return <p className="note">The output is no longer stored.</p>;
}

/** The messages as sent and the variables. Bodies can be deleted before their record. */
function Bodies({ execution }: { readonly execution: ExecutionDetail }) {
  const { inputVariables: variables, messages, reasoningText, toolCalls } = execution;
  const { tools, toolChoice, settings } = execution;
  const given = useMemo(() => {
    const text = variables && stringify(variables);
    return text && shortenDataUrls(indentJson(text) ?? text);
  }, [variables]);
  if (given === undefined && messages === undefined) {
    return <p className="note">Variables and prompts are not stored, or no longer stored.</p>;
  }
  return (
    <>
      {execution.partialText !== undefined && (
        <CodeBlock label="Answer until the cancel" code={execution.partialText} />
      )}
      {toolCalls && <CodeBlock label="Calls of tools" code={JSON.stringify(toolCalls, null, 2)} />}
      {reasoningText !== undefined && <CodeBlock label="Reasoning" code={reasoningText} />}
      {execution.refusalText !== undefined && (
        <CodeBlock label="Refusal" code={execution.refusalText} />
      )}
      <SentMessages execution={execution} />
      {given !== undefined && <CodeBlock label="Variables" code={given} />}
      {tools && <CodeBlock label="Tools" code={JSON.stringify({ tools, toolChoice }, null, 2)} />}
      {settings && <CodeBlock label="Settings" code={JSON.stringify(settings, null, 2)} />}
    </>
  );
}
