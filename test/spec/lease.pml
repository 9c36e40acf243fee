/* The lease of one task over SQL, as a second opinion beside protocol.ts: written apart, checked by Spin.
 *
 * Each d_step is one statement, atomic in the database. Processes crash between any two of them and restart as another
 * incarnation; a pause is a process that is not scheduled while the clock moves. Every process has a host of its own, so
 * that only the times count as evidence against others.
 *
 * Guards taken away:  -DNOFENCE     the stage is written without looking at the row
 *                     -DBYTASK      a release deletes whatever row the task has
 *                     -DUPSERT      a renewal takes the row, whoever owns it
 *                     -DNOEXPIRY    a reclaim does not compare the expiry that was judged
 *                     -DREPLYTRUST  trust is anchored at the reply instead of before the question
 */
#ifndef N
#define N 2
#endif
#ifndef MAXT
#define MAXT 7
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef CLAIMS
#define CLAIMS 3
#endif
#define TTL 4
#define MARGIN 1
#define STAGES 1
#define FREE 255

byte now = 0, crashes = 0;
byte claims = 0;               /* claims never repeat */
byte row = FREE, expires = 0;  /* the row: its claim, or none */
byte stage = 0, lastwriter = 0;
byte undisputed = 0;           /* ghost: owners that trust themselves at this moment */
byte trust[N + 1];             /* until when */
bool holds[N + 1];

inline count() {
  d_step {
    undisputed = 0; i = 1;
    do
    :: i <= N -> if :: holds[i] && now < trust[i] -> undisputed++ :: else fi; i++
    :: else -> break
    od;
    assert(undisputed <= 1); i = 0; undisputed = 0
  }
}

active proctype Clock() {
  do
  :: now < MAXT -> now++
  :: now >= MAXT -> break
  od
}

proctype P(byte me) {
  byte mine, anchor, seen, judged, expected, sent, i;
  bool flying;

START: skip;
  d_step { holds[me] = false; mine = 0; flying = false; seen = FREE; anchor = 0; judged = 0; sent = 0; expected = 0; trust[me] = 0 }
  do
  :: crashes < CRASHES -> crashes++; goto START

  /* acquire: the anchor is taken, the insert is sent, it lands, its answer is heard */
  :: mine == 0 && stage < STAGES && now < MAXT ->
     anchor = now;
     d_step {
       if
       :: row == FREE && claims < CLAIMS -> claims++; mine = claims; row = mine; expires = now + TTL; expected = stage
       :: row != FREE && now >= expires -> seen = row; judged = expires; anchor = 0
       :: else -> anchor = 0
       fi
     }
     if
     :: mine != 0 ->
        d_step {
#ifdef REPLYTRUST
          anchor = now;
#endif
          holds[me] = true; trust[me] = anchor + TTL - MARGIN; anchor = 0
        }
        count()
     :: else -> skip
     fi

  /* reclaim exactly what was judged */
  :: seen != FREE ->
     d_step {
       if
#ifdef NOEXPIRY
       :: row == seen -> row = FREE
#else
       :: row == seen && expires == judged -> row = FREE
#endif
       :: else -> skip
       fi;
       seen = FREE; judged = 0
     }

  /* a renewal is sent while trusted, and lands when it lands */
  :: mine != 0 && !flying && now < trust[me] -> d_step { flying = true; sent = now }
  :: mine != 0 && flying ->
     d_step {
       flying = false;
       if
#ifdef UPSERT
       :: true -> row = mine; expires = now + TTL; trust[me] = sent + TTL - MARGIN
#else
       :: row == mine -> expires = now + TTL; trust[me] = sent + TTL - MARGIN
#endif
       :: else -> holds[me] = false; trust[me] = 0
       fi;
       sent = 0
     }
     count()

  /* the stage, fenced by the claim */
  :: mine != 0 ->
     d_step {
       if
#ifdef NOFENCE
       :: stage == expected ->
#else
       :: stage == expected && row == mine ->
#endif
          assert(row == mine); assert(mine >= lastwriter); lastwriter = mine; stage++
       :: else -> skip
       fi;
       holds[me] = false; trust[me] = 0; expected = 0
     }
     d_step {
       if
#ifdef BYTASK
       :: true -> row = FREE
#else
       :: row == mine -> row = FREE
#endif
       :: else -> skip
       fi;
       mine = 0; flying = false; sent = 0
     }
  :: stage >= STAGES || now >= MAXT -> break
  od
}

init {
  byte i;
  atomic { i = 1; do :: i <= N -> run P(i); i++ :: else -> break od }
}
