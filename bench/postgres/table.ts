import { batches } from '../batches.js';
import { ownershipOn, transitions } from '../ownership.js';
import { race, wall } from '../race.js';
import { lapLine, printTable } from '../report.js';
import { Transcript } from '../statements.js';
import { PostgresServer } from './database.js';
import { floor, WRITTEN } from './floor.js';

/** Prints the table of PostgreSQL. */
export async function postgresTable(url: string): Promise<void> {
  await using server = new PostgresServer(url);
  const transcript = new Transcript();
  const watched = await ownershipOn(await server.kysely('watched', transcript.onQuery));
  await ownershipOn(await server.kysely('text'));
  await ownershipOn(await server.kysely('named'));
  const laps = await race(
    [
      floor('floor, 3 statements as text', await server.client('text'), 'text'),
      transitions('  library', await ownershipOn(await server.kysely('library'))),
      transitions('  library, the write releases: 2 statements', await ownershipOn(await server.kysely('fused')), {
        release: true,
      }),
      floor('  floor, 3 statements prepared by name, which Kysely cannot', await server.client('named'), 'named'),
    ],
    { rounds: 60, times: 20, clock: wall },
  );
  const lines = [
    ...laps.map((lap, at) => lapLine(lap, [undefined, 1.25, 0.75][at])),
    ...(await batches('library', await ownershipOn(await server.kysely('many')), { rounds: 3, clock: wall })),
    ...(await transcript.compare(watched, WRITTEN)),
  ];
  printTable(`${await server.durability()}; pg, one connection`, lines);
}
