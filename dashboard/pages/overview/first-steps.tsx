import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Icon } from '../../components/icon.tsx';
import { can, isDismissed, useDismiss, useMe } from '../../data/workspace/me.ts';
import classes from './first-steps.module.css';
import { firstStepsQuery } from './first-steps-query.ts';

/** What is done. `isLoading` while nobody knows whether the list is shown: what is below it must not move then. */
export function useFirstSteps() {
  const me = useMe();
  const isShown = can(me, 'edit') && !isDismissed(me, 'firstSteps');
  const { data, isLoading } = useQuery({ ...firstStepsQuery, enabled: isShown });
  return { done: isShown ? data : undefined, isLoading };
}

/** The way to the first call. Each step checks itself off; the list goes once all are done or the user dismisses it. */
export function FirstSteps() {
  const dismiss = useDismiss();
  const { done } = useFirstSteps();
  // It supports the page: nothing is shown if it fails.
  if (done === undefined || done.call) return null;
  const steps = stepsOf(done.agentId);
  const next = steps.find(({ step }) => !done[step])?.step;
  const count = steps.filter(({ step }) => done[step]).length;
  return (
    <section className={classes.card} aria-labelledby="first-steps">
      <div className={classes.head}>
        <h2 id="first-steps">
          Your first call{' '}
          <span>
            {count} of {steps.length} done
          </span>
        </h2>
        <Button
          size="xs"
          variant="subtle"
          color="gray"
          loading={dismiss.isPending}
          onClick={() => dismiss.mutate({ notice: 'firstSteps', days: null })}
        >
          Dismiss
        </Button>
      </div>
      <ol className={classes.steps}>
        {steps.map(({ step, title, text, link }) => (
          <li key={step} data-done={done[step] || undefined} data-next={step === next || undefined}>
            <span className={classes.mark}>
              {done[step] ? (
                <>
                  <Icon name="check" size={12} />
                  <span className="visually-hidden">Done:</span>
                </>
              ) : (
                <span className={classes.dot} />
              )}
            </span>
            <div>
              <Link {...link}>{title}</Link>
              <p>{text}</p>
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}

type Step = 'prompt' | 'provider' | 'agent' | 'key' | 'call';

function stepsOf(agentId: string | undefined) {
  const ofAgent = agentId === undefined ? '/agents' : '/agents/$agentId/use';
  const params = { agentId: agentId ?? '' };
  return [
    {
      step: 'prompt',
      title: 'Write a prompt',
      text: 'Its versions are kept.',
      link: { to: '/prompts' },
    },
    {
      step: 'provider',
      title: 'Connect a provider',
      text: 'Or use the built-in echo model.',
      link: { to: '/settings/providers' },
    },
    {
      step: 'agent',
      title: 'Deploy an agent',
      text: 'It pins one version.',
      link: { to: '/agents/new' },
    },
    {
      step: 'key',
      title: 'Issue an API key',
      text: 'Your code calls with it.',
      // Opens the dialog that issues a key and shows the first call.
      link:
        agentId === undefined
          ? { to: '/keys' }
          : { to: ofAgent, params, search: { start: true as const } },
    },
    {
      step: 'call',
      title: 'Make the first call',
      text: 'curl, TypeScript or Python.',
      link: { to: ofAgent, params },
    },
  ] as const satisfies readonly { readonly step: Step; readonly [name: string]: unknown }[];
}
