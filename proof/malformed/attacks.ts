import fc from 'fast-check';
import { type Attack, bytes, type Sent, type Targets, utf8 } from './attack.ts';
import { broken, invalidBodies, oversizes } from './bodies.ts';
import { nearValid } from './calls.ts';
import { framings } from './framing.ts';
import { headers, heads, methods, paths } from './heads.ts';

/** Those that are no matter of chance. Each is sent once, before the random ones. */
export function fixedAttacks(targets: Targets): Attack[] {
  const all = {
    'odd framing': framings(targets),
    'an odd head': heads,
    'a body that is too large': oversizes(targets),
    'an invalid body': invalidBodies(targets),
  };
  return Object.entries(all).flatMap(([what, requests]) =>
    requests.map((sent) => ({ what, requests: [sent], afterwards: 'read' as const, pauseMs: 0 })),
  );
}

export function attacks(targets: Targets): fc.Arbitrary<Attack> {
  const one = (arbitrary: fc.Arbitrary<Sent>, what: string) =>
    fc.record({
      what: fc.constant(what),
      requests: arbitrary.map((sent) => [sent]),
      afterwards: fc.constant('read' as const),
      pauseMs: fc.constant(0),
    });
  const called = nearValid(targets);
  return fc.oneof(
    { weight: 40, arbitrary: one(called, 'a nearly valid call') },
    { weight: 12, arbitrary: one(broken(targets), 'an invalid body') },
    { weight: 10, arbitrary: one(paths(targets), 'an odd path or query') },
    { weight: 8, arbitrary: one(headers(targets), 'odd headers') },
    { weight: 12, arbitrary: one(fc.constantFrom(...framings(targets)), 'odd framing') },
    { weight: 6, arbitrary: one(methods(targets), 'an odd method or version') },
    {
      weight: 1,
      arbitrary: one(fc.constantFrom(...oversizes(targets)), 'a body that is too large'),
    },
    { weight: 4, arbitrary: pipelined(called) },
    { weight: 4, arbitrary: piecemeal(called) },
    { weight: 3, arbitrary: reset(called) },
  );
}

function pipelined(called: fc.Arbitrary<Sent>): fc.Arbitrary<Attack> {
  return fc.record({
    what: fc.constant('pipelined calls'),
    requests: fc.array(called, { minLength: 2, maxLength: 6 }),
    afterwards: fc.constantFrom('read' as const, 'half-close' as const),
    pauseMs: fc.constant(0),
  });
}

/** A call in pieces. The last piece may be missing. */
function piecemeal(called: fc.Arbitrary<Sent>): fc.Arbitrary<Attack> {
  return fc
    .tuple(called, fc.integer({ min: 2, max: 8 }), fc.constantFrom('whole', 'half-close', 'abort'))
    .map(([sent, parts, ending]): Attack => {
      const text = Buffer.concat(sent.pieces).subarray(0, 100_000);
      const size = Math.ceil(text.length / parts);
      const pieces = Array.from({ length: parts }, (_, i) =>
        text.subarray(i * size, (i + 1) * size),
      );
      const whole = ending === 'whole' && text.length < 100_000;
      return {
        what: `a call in pieces, ${ending}`,
        requests: [{ ...sent, whole, pieces: whole ? pieces : pieces.slice(0, -1) }],
        afterwards: ending === 'abort' ? 'abort' : whole ? 'read' : 'half-close',
        pauseMs: 3,
      };
    });
}

/** A connection that the client resets after it has sent a call or a CONNECT. */
function reset(called: fc.Arbitrary<Sent>): fc.Arbitrary<Attack> {
  const tunnel = (target: string, status: number) =>
    bytes(`CONNECT ${target} HTTP/1.1\r\nHost: x\r\n\r\n`, 'CONNECT', { status });
  const tunnels = fc.constantFrom(tunnel('example.com:443', 405), tunnel('127.0.0.1:1', 405));
  return fc.record({
    what: fc.constant('a reset connection'),
    // With an extra piece, so that the response to the call may be in flight.
    requests: fc
      .oneof(tunnels, called)
      .map((sent) => [{ ...sent, whole: false, pieces: [...sent.pieces, utf8('GET / HTTP')] }]),
    afterwards: fc.constant('reset' as const),
    pauseMs: fc.integer({ min: 0, max: 20 }),
  });
}
