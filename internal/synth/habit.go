package synth

// act is what a call is for; it chooses the words beside it.
type act int

const (
	actList act = iota
	actView
	actGrep
	actRepro
	actRun
	actEdit
	actTest
	actDiff
	actCleanup
	actOther
)

// Behaviour is the way of working a run follows.
type Behaviour int

// The behaviours. The first four are the paper's profiles of passing runs with brute force
// and overconfidence split off from the lucky ones; thrashing is its failing counterpart.
const (
	Principled    Behaviour = iota // reproduce, repair, verify, review
	Efficient                      // straight to the place, one check
	Exploratory                    // reads widely, returns to reading after edits
	BruteForce                     // edit and test in a loop
	Overconfident                  // one edit, no check
	Thrashing                      // repeats itself
	behaviours
)

// String returns the word written into metadata.details.behaviour.
func (b Behaviour) String() string {
	return [...]string{"principled", "efficient", "exploratory", "brute_force", "overconfident", "thrashing"}[b]
}

// passChance is the chance to end with a correct repair on the easiest task, in permille.
func (b Behaviour) passChance() int { return [...]int{900, 820, 680, 520, 520, 300}[b] }

// model is a mixture of behaviours.
type model struct {
	name   string
	weight [behaviours]int // permille
	style  style
}

var greek = []string{
	"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu",
	"nu", "xi", "omicron", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega",
}

// archetypes are the mixtures of the first six models; later models blend two of them.
var archetypes = [...][behaviours]int{
	{700, 180, 60, 20, 40, 0},
	{350, 450, 100, 40, 60, 0},
	{150, 150, 500, 100, 50, 50},
	{100, 150, 150, 450, 50, 100},
	{150, 200, 50, 100, 450, 50},
	{100, 100, 150, 200, 100, 350},
}

func newModel(seed uint64, index int) *model {
	r := newRNG(seed, 2, uint64(index))
	m := &model{name: "synthetic-" + greek[index%len(greek)]}
	if index >= len(greek) {
		m.name += "-" + string(rune('0'+index/len(greek)/10%10)) + string(rune('0'+index/len(greek)%10))
	}
	if index < len(archetypes) {
		m.weight = archetypes[index]
	} else {
		a, b := pick(r, archetypes[:]), pick(r, archetypes[:])
		for i := range m.weight {
			m.weight[i] = (a[i] + b[i]) / 2
		}
	}
	m.style = style{cd: r.chance(500), absolute: r.chance(300), tests: r.below(nTestCommands),
		script: pick(r, []string{"reproduce_issue.py", "repro.py", "check_report.py"})}
	return m
}

// behaviour draws one of the model's habits.
func (m *model) behaviour(r rng) Behaviour {
	total := 0
	for _, w := range m.weight {
		total += w
	}
	at := r.below(total)
	for b, w := range m.weight {
		if at < w {
			return Behaviour(b)
		}
		at -= w
	}
	return Principled
}

// work lets the run act. goal is the state its repair ends in.
func (s *session) work(b Behaviour, goal variant) {
	switch b {
	case Principled:
		s.principled(goal)
	case Efficient:
		s.efficient(goal)
	case Exploratory:
		if s.chance(450) {
			s.survey(goal)
		} else {
			s.explore(goal)
		}
	case BruteForce:
		s.bruteForce(goal)
	case Overconfident:
		s.overconfident(goal)
	case Thrashing:
		s.thrash(goal)
	}
}

func (s *session) principled(goal variant) {
	if s.chance(300) {
		s.track()
	}
	s.list()
	if s.chance(250) {
		s.do(s.remark(actGrep, s.fn), s.grepCall(s.fn, s.pkg), s.viewCall(s.target))
	} else {
		s.grep(s.fn)
		s.view(s.target)
	}
	if s.chance(800) {
		s.view(s.helper)
	}
	if s.chance(600) {
		s.view(s.tests)
	}
	if s.chance(300) {
		s.view(s.caller)
	}
	if s.chance(750) {
		s.think()
	}
	s.reproduce()
	s.runScript()
	s.rewrite(goal)
	if s.chance(350) {
		s.harden()
	}
	s.runScript()
	if s.chance(500) {
		s.viewAround(s.target, s.segment[goal])
	}
	s.test(false)
	if s.chance(400) {
		s.addTest()
		s.test(false)
	}
	if s.chance(250) {
		s.test(true)
	}
	if s.chance(800) {
		s.diff()
	}
	if s.chance(850) {
		s.cleanup()
	}
	s.finish()
}

func (s *session) efficient(goal variant) {
	s.grep(s.fn)
	if s.chance(600) {
		s.viewAround(s.target, s.fn)
	} else {
		s.view(s.target)
	}
	if s.chance(300) {
		s.view(s.tests)
	}
	s.rewrite(goal)
	if s.chance(500) {
		s.inline()
	}
	s.test(s.chance(300))
	if s.chance(400) {
		s.diff()
	}
	s.finish()
}

// survey reads most of the repository and edits once at the end. Half of the runs also run
// tests on the way.
func (s *session) survey(goal variant) {
	order := append([]int(nil), s.distant...)
	shuffle(s.rng, order)
	if s.chance(500) {
		s.list()
	}
	checks := s.chance(500)
	for i, f := range order[:s.between(len(order)-4, len(order))] {
		s.view(f)
		switch {
		case i%2 == 1:
			s.think()
		case checks && i%3 == 1:
			s.testWith(i%nTestCommands, s.chance(500))
		case s.chance(300):
			s.look()
		}
	}
	s.viewAround(s.target, s.fn)
	if s.chance(400) {
		s.look()
	}
	if s.chance(500) && goal != delegated {
		s.bySed(goal)
	} else {
		s.rewrite(goal)
	}
	if checks {
		s.test(false)
	}
	s.finish()
}

// explore goes back and forth between reading and editing.
func (s *session) explore(goal variant) {
	s.list()
	s.grep(s.fn)
	order := append([]int{s.target, s.helper, s.caller}, s.distant...)
	shuffle(s.rng, order[1:])
	for _, f := range order[:s.between(4, 8)] {
		s.view(f)
		if s.chance(300) {
			s.look()
		}
	}
	s.rewrite(partial)
	for range s.between(2, 4) { // back to reading, also things that can't matter
		if s.chance(600) {
			s.view(pick(s.rng, s.distant))
		} else {
			s.look()
		}
	}
	if s.chance(500) {
		s.view(s.caller)
		s.grep(s.callerFn)
		s.view(s.caller)
	}
	if s.chance(500) {
		s.reproduce()
		s.runScript()
	}
	s.harden()
	s.test(false)
	if s.chance(600) {
		s.view(pick(s.rng, s.distant))
		s.view(s.helper)
	}
	s.rewrite(goal)
	s.test(false)
	if s.chance(500) {
		s.diff()
	}
	s.finish()
}

func (s *session) bruteForce(goal variant) {
	s.grep(s.fn)
	if s.chance(700) {
		s.view(s.target)
	}
	for range s.between(2, 5) {
		switch s.below(4) {
		case 0:
			for range s.between(3, 5) {
				s.miss()
			}
		case 1:
			for _, v := range []variant{partial, fixed, buggy, partial} {
				s.rewrite(v)
			}
		case 2:
			s.rewrite(partial)
			s.undo()
		case 3:
			for range s.between(3, 6) {
				s.testWith(s.below(nTestCommands), s.chance(500))
			}
		}
		s.test(false)
	}
	for range s.between(2, 3) { // the same two calls again and again
		s.rewrite(partial)
		s.test(false)
		s.rewrite(fixed)
		s.test(false)
	}
	s.rewrite(goal)
	if s.chance(400) {
		s.test(true)
	}
	s.finish()
}

func (s *session) overconfident(goal variant) {
	if s.chance(500) {
		s.grep(s.fn)
	}
	if s.chance(700) {
		s.viewAround(s.target, s.fn)
	}
	hasty := s.chance(350) // reads on and rereads, then writes the repair without a look at it
	if hasty {
		s.viewAround(s.target, s.fn)
		for range s.between(1, 3) {
			s.view(pick(s.rng, s.distant))
		}
		s.viewAround(s.target, s.segment[buggy])
	}
	again := s.chance(600)
	if again && s.chance(400) {
		s.rewrite(partial)
		s.grep(s.fn)
	}
	switch {
	case s.at == goal:
	case goal != delegated && (hasty || s.chance(300)):
		s.bySed(goal)
	default:
		s.rewrite(goal)
	}
	if hasty || again {
		s.do(s.remark(actOther, ""), s.grepCall(s.callerFn, s.pkg))
	}
	if s.chance(300) {
		s.view(s.helper)
	}
	s.finish()
}

func (s *session) thrash(goal variant) {
	a, b := pick(s.rng, s.distant), pick(s.rng, s.distant)
	for range s.between(2, 6) {
		switch s.below(7) {
		case 0:
			for range s.between(3, 7) {
				s.grep(pick(s.rng, verbs) + "_" + pick(s.rng, topics))
			}
		case 1:
			for range s.between(2, 4) {
				s.view(a)
				s.view(b)
			}
		case 2:
			s.refused("Parameter 'command' is expected to be one of ['view', 'create', 'str_replace', 'insert', 'undo_edit'].")
			s.miss()
		case 3:
			s.hang()
		case 4:
			for range s.between(3, 5) {
				s.view(s.target)
			}
		case 5:
			s.say("agent", "I think the work is done.", true)
			s.say("user", "Please go on until you are sure; call finish when you are.", false)
			s.look()
		case 6:
			s.think()
			s.look()
			s.think()
			s.look()
		}
	}
	if goal == buggy {
		s.trouble = "AgentStuckInLoopError: Agent got stuck in a loop"
		return
	}
	if s.chance(300) && goal != delegated {
		s.bySed(goal)
	} else {
		s.rewrite(goal)
	}
	for range s.below(4) {
		s.look()
	}
	s.finish()
}
