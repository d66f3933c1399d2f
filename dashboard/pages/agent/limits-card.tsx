import { Skeleton, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { Agent } from '../../../src/client/index.ts';
import { agentLimitsQuery } from '../../data/agents.ts';
import { formatCount } from '../../data/format.ts';
import { Card, Facts } from '../../parts/card.tsx';
import { problemOf } from '../../parts/error-state.tsx';
import { LimitBars } from '../../parts/limit-bars.tsx';
import classes from './settings-summary.module.css';

/** How often the agent may be called, and how much of that is used at this moment. */
export function LimitsCard({ agent }: { readonly agent: Agent }) {
  const limits = useQuery(agentLimitsQuery(agent.agentId));
  const { maxConcurrency } = agent.agentConfig;
  return (
    <Card title="Limits">
      <Stack gap="sm">
        {limits.data ? (
          limits.data.rateLimitUsage.length === 0 ? (
            <p className={classes.none}>It may be called as often as its keys may.</p>
          ) : (
            <LimitBars usage={limits.data.rateLimitUsage} />
          )
        ) : limits.isError ? (
          <p className={classes.none} role="alert">
            {problemOf(limits.error).message}
          </p>
        ) : (
          <Skeleton height={64} />
        )}
        <Facts
          facts={[['Runs at once', maxConcurrency ? formatCount(maxConcurrency) : 'no limit']]}
        />
      </Stack>
    </Card>
  );
}
