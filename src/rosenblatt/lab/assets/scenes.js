// Guided scenes along chapter 4 of H. Daumé III, "A Course in Machine Learning": the book's
// questions, each before its answer. A page is words beside a state of the lab: `toy` or `document`
// give the points and settings, `at` the step, `panel` what is open, `shows` what is drawn.

const FEW = [[1.2, 0.8, 1], [-0.9, 0.6, -1], [0.5, -1.3, -1]];
const UPDATE = [[1, 2, 1], [2, 1, 1], [-1, 1.5, 1], [-2, -1, -1], [-1, -2, -1], [2.2, -0.8, -1]]; // Figure 4.9
const WIDE = [-2.8, 2.8, -2.8, 2.8];
const RARE = [[1, 0, 1], [-1, 0, -1], [1.2, 0, 1], [-0.8, 0, -1], [0.9, 0, 1], [-1.1, 0, -1], [0.5, 1, -1], [1, -0.8, 1]]; // x₂ is seldom there

export const SCENES = [
  {
    name: "neuron", title: "The neuron", section: "Section 4.1", about: "A sum of products that fires, or does not.",
    pages: [
      {
        words: [
          "One input for each feature. Every input x is multiplied by its weight w, the products are added, and the bias b is added to them: that is the activation a. Above 0 the neuron fires and says +1, otherwise −1.",
          "Turn the arrow w by its tip, or drag the points; the drawing below follows.",
        ],
        document: { points: FEW, start: [1, 0.5, -0.3] }, panel: "neuron",
      },
      {
        words: ["A weight of 0 ignores its feature. A positive weight lets the feature speak for +1, a negative one for −1."],
        question: "A yes/no feature is usually written 1 and 0. What if somebody wrote −1 for yes?",
        answer: ["Its weight would be learned with the other sign. The product w·x is the same, and so is every activation: a feature may be written as one likes, as long as it is always written so."],
        document: { points: FEW, start: [0, 1.2, -0.3] }, panel: "neuron",
      },
      {
        words: ["Sometimes the neuron should fire only above a threshold θ, not already above 0."],
        question: "Which bias b does that?",
        answer: ["b = −θ: then a = w·x + b is above 0 exactly where w·x is above θ. Here θ = 1. Change b under Settings: the boundary moves and keeps its direction."],
        document: { points: FEW, start: [1, 0.5, -1] }, panel: "axis",
      },
    ],
  },
  {
    name: "mistake", title: "A mistake repairs itself", section: "Section 4.2", about: "What one update does, and why it helps.",
    pages: [
      {
        words: [
          "The algorithm looks at one row at a time. If it is right, nothing changes. If it is wrong, y·x is added to the weights and y to the bias.",
          "Row 1 has just been found on the wrong side: the blue arrow is the row, laid on the tip of the old w; the sum is the new w.",
        ],
        toy: "separable", at: 2, panel: "neuron",
      },
      {
        words: ["Suppose the same row came again at once."],
        question: "By how much has its activation moved, and in the right direction?",
        answer: ["a′ = (w + x)·x + (b + 1) = a + ‖x‖² + 1. That is larger than a by 1 at least, and for a positive row up is right. The line under the neuron has the numbers."],
        toy: "separable", at: 2, panel: "neuron",
      },
      {
        words: ["Now a negative row, on which the activation was 0.06."],
        question: "The book asks you to repeat the argument for y = −1. What becomes of a?",
        answer: ["The row is subtracted: a′ = a − ‖x‖² − 1, lower by 1 at least. For a negative row down is right."],
        toy: "separable", at: 25, panel: "neuron",
      },
      {
        words: ["Here the weights began far on the wrong side."],
        question: "After an update, is the row always right?",
        answer: ["No. Its activation went from −3 to −1.5: better, and still wrong. It will be met again in the next pass. Press Mistake to see how it ends."],
        document: { points: [[0.5, 0.5, 1], [-1, 0.5, -1], [1, 1, 1]], start: [-3, -3, 0] }, at: 1, panel: "neuron",
      },
    ],
  },
  {
    name: "zero", title: "Why y·a ≤ 0", section: "Section 4.2", about: "One test for both classes, and its equals sign.",
    pages: [
      {
        words: ["The label y is +1 or −1, so y·a is positive exactly where a has the sign of the label. One comparison serves both classes: a row is wrong where y·a ≤ 0."],
        question: "It is very important that this says ≤ and not <. Why?",
        answer: ["All weights are 0 at the start, and so is every activation. With < no row would ever be a mistake, and nothing would ever be learned. Press Step."],
        toy: "separable", at: 0, panel: "neuron",
      },
      {
        words: ["The first row: its activation is 0, which is neither side. It counts as a mistake, the row is subtracted, and training is under way."],
        toy: "separable", at: 1, panel: "neuron",
      },
      {
        words: ["Other texts let 0 mean the negative class (Settings, “An activation of 0 is”). Then the first negative row is right by luck, and the first positive one teaches."],
        question: "Why does that still work?",
        answer: ["One of the two classes still counts 0 as a mistake. Only a rule for which 0 is right for both would stand still."],
        toy: "xor", document: { zero: "negative" }, at: 2, panel: "trace",
      },
    ],
  },
  {
    name: "order", title: "The order of the rows", section: "Section 4.2", about: "All of one class first is a bad idea.",
    pages: [
      {
        words: ["“For all rows” leaves the order open. Here come fifteen positive rows, then fifteen negative ones. After row 0 every point is called positive."],
        question: "What do the other fourteen positive rows teach?",
        answer: ["Nothing: they are all right. Then two negative rows turn everything over, and the rest of the pass is quiet again. Of thirty rows three have taught."],
        toy: "sorted labels", document: { second_order: "every pass" }, at: 15, panel: "passes",
      },
      {
        words: ["The same points as given on the left, in a new random order for every pass on the right; both have seen as many rows. Move the slider."],
        question: "Which is sooner at its end?",
        answer: ["As given: seven passes and 17 mistakes. Shuffled: two passes and 3 mistakes with this seed, two or three passes with most others."],
        toy: "sorted labels", document: { second_order: "every pass" }, at: 45, panel: "orders",
      },
      {
        words: ["Shuffling once is better than an unlucky order; shuffling every pass saves more passes on some data, and few on most."],
        question: "When would you not shuffle in every pass?",
        answer: ["Where rows come from a disk or over a network one after the other: jumping about in them costs more than the passes it saves. Or where their order means something, as in time."],
        toy: "sorted labels", document: { order: "once", second_order: "every pass" }, at: "end", panel: "orders",
      },
    ],
  },
  {
    name: "geometry", title: "Geometry", section: "Section 4.3", about: "The boundary stands on w; the bias moves it.",
    pages: [
      {
        words: ["Without a bias the activation is the dot product w·x."],
        question: "Which points have an activation of exactly 0?",
        answer: ["Those perpendicular to w: a line through the origin, at a right angle to the arrow. Turn w and the line turns with it. w points to the positive side."],
        toy: "separable", document: { bias: false, start: [0.9, 1.4, 0] }, panel: "neuron",
      },
      {
        words: ["Pull w longer and shorter without turning it. The activations grow and shrink; no point changes sides."],
        question: "How do you get a vector of length 1 in the same direction?",
        answer: ["Divide w by its length: w/‖w‖. Every activation is divided by the same positive number, so no sign changes. Activations are then distances."],
        toy: "separable", document: { bias: false, start: [0.4, 0.62, 0] }, panel: "axis",
      },
      {
        words: ["w·x is how far x reaches along w. Each point falls onto the axis below by its distance from the boundary; the thin lines on the plane are those distances."],
        toy: "separable", document: { bias: false, start: [0.9, 1.4, 0] }, panel: "axis", shows: { feet: true },
      },
      {
        words: ["Now with a bias: b = 1.5. The direction of the boundary is the same."],
        question: "To which side does a positive bias move it?",
        answer: ["Against w, by b/‖w‖: more of the plane becomes positive. On the axis the points stay in their order and only the 0 moves."],
        toy: "separable", document: { start: [0.9, 1.4, 1.5] }, panel: "axis", shows: { feet: true },
      },
      {
        words: ["The update as a picture, without a bias: the row of the negative class is subtracted from w. The sum is the new w, and the boundary has turned until the row is on its side."],
        document: { points: UPDATE, bias: false, view: WIDE }, at: 6, panel: "neuron",
      },
    ],
  },
  {
    name: "theorem", title: "The theorem", section: "Section 4.5", about: "Why it must stop, and how soon.",
    pages: [
      {
        words: ["The margin γ is the distance from a boundary to the nearest point, and that of a set of points is the largest that any boundary has. The green line has it; its unit weights are w*."],
        question: "If some line separates the points, will the perceptron find one? After how many updates?",
        answer: ["Yes: after at most R²/γ² updates, where R is the length of the longest row. Here that is 45. It took 5."],
        toy: "separable", at: "end", panel: "theorem",
      },
      {
        words: ["The proof is a race. Every update lifts w·w* by γ at least, so it stays above kγ. And since the row was wrong, the square of ‖w‖ grows by R² at most, so ‖w‖ stays below R√k."],
        question: "Why can that not go on?",
        answer: ["w·w* is never longer than w itself. But kγ outruns R√k: where the two lines meet, at k = R²/γ², there is no room left between them. Step by Mistake and watch."],
        toy: "separable", at: 17, panel: "theorem",
      },
      {
        words: ["Here the margin is small against the length of the rows: R²/γ² is 517."],
        question: "A bad order makes training very long. Why does that not contradict the theorem?",
        answer: ["The theorem counts updates, not rows. In a bad order most rows pass without one. All the orders there are obey the same bound."],
        toy: "sorted labels", at: "end", panel: "theorem",
      },
      {
        words: ["The perceptron's line in black, the widest one in green."],
        question: "Does the perceptron find the boundary of widest margin?",
        answer: ["No. It stops at the first one that separates. The theorem uses the widest one to count, and says nothing of which one is found."],
        toy: "separable", at: "end", panel: "axis", shows: { star: true },
      },
    ],
  },
  {
    name: "averaging", title: "Voting and averaging", section: "Section 4.6", about: "Later rows should not count for more.",
    pages: [
      {
        words: ["These classes overlap, so training never ends by itself. Move the slider along the last passes and watch the line."],
        question: "What is wrong with keeping the last weights?",
        answer: ["They depend on the last mistake. Weights may serve a thousand rows well, and one row turns them: it counts for more than all those before it."],
        toy: "overlapping", at: "end", panel: "passes",
      },
      {
        words: ["Let all weight vectors of the training vote, each with as many votes as rows that it survived. Thin lines are the ones that lasted longest."],
        question: "In training, the current weights decide what is a mistake, not the vote. Why?",
        answer: ["Because they are what is to be corrected. If the vote decided, a bad vector would go uncorrected as long as its elders outvote it, and it would collect votes of its own."],
        toy: "overlapping", document: { memory: "vote" }, at: "end", panel: "passes",
      },
      {
        words: ["The vote needs every vector. Their average needs one: add each vector as often as it survived, and divide. The dotted line is the vote, the other the average."],
        question: "Where do the two differ?",
        answer: ["The vote takes the sign of each activation before it adds them, the average adds them as they are, so a long vector counts for more there. Their lines are seldom far apart."],
        toy: "overlapping", document: { memory: "average" }, at: "end", panel: "passes", shows: { vote: true },
      },
      {
        words: ["A third of the points is held out (hollow). The curve of its error is dashed; compare Last and Average above the plane."],
        question: "Does averaging free you from stopping early?",
        answer: ["No. It is steadier and usually better, yet after many passes it fits these points rather than the next ones. Watch the held-out error, and stop where it is least."],
        document: { memory: "average" }, toy: "overlapping", hold: true, at: "end", panel: "passes",
      },
    ],
  },
  {
    name: "sureness", title: "How sure each weight is", section: "Beyond the book", about: "A weight that has learned much should move little.",
    pages: [
      {
        words: ["Six rows have taught the weight of x₁, none that of x₂. AROW keeps a variance beside each weight; the ellipse around the tip of w reaches one deviation, its square root, to each side."],
        question: "Why is the ellipse narrow and tall?",
        answer: ["Each of the six rows made the variance of w₁ smaller, from 1 at first to 0.14: that weight is known to ±0.38. The variance of w₂ is still 1: of x₂ nothing is known."],
        document: { points: RARE, rule: "arow", bias: false }, at: 6, panel: "neuron",
      },
      {
        words: ["Then comes row 6, (0.5, 1) of the class −1, and it is wrong. The step is α·Σx: each feature is multiplied by the variance of its weight."],
        question: "Which of the two weights takes the blame?",
        answer: ["w₂ moves by 0.70, w₁ by 0.05, although x₁ is half as large as x₂. The perceptron would have moved w₁ by 0.5 and unlearned a good part of what six rows had said. Choose it under Settings and compare."],
        document: { points: RARE, rule: "arow", bias: false }, at: 7, panel: "neuron",
      },
      {
        words: ["The same rows with r = 10 in place of 1."],
        question: "What does r do?",
        answer: ["It says how little a single row is to be trusted: steps are shorter and variances shrink more slowly, so that one odd row does less harm, and more rows are needed. Words are like x₂: most are rare, and a text may be the only one that has them. So this rule is the default for texts."],
        document: { points: RARE, rule: "arow", r: 10, bias: false }, at: 7, panel: "neuron",
      },
    ],
  },
  {
    name: "xor", title: "XOR, and a third dimension", section: "Section 4.7", about: "What no line can do, and what helps.",
    pages: [
      {
        words: ["Four points: +1 where exactly one coordinate is 1. After a single pass the weights are back where they began. In this order the perceptron goes round for ever."],
        question: "Might another order, or more passes, find a line?",
        answer: ["No: there is none to be found. The next page proves it."],
        toy: "xor", at: 4, panel: "trace",
      },
      {
        words: ["Mix the two positive points half and half: that is the middle of the square. Mix the two negative ones: the same point."],
        question: "What would a separating line have to do with that point?",
        answer: ["Points on one side of a line have their mixtures on that side, too. This one would have to lie on both. For points that no line separates there always is such a meeting point."],
        toy: "xor", at: 0, panel: "proof",
      },
      {
        words: ["Add one feature: x₃ = x₁ ∧ x₂, which is 1 only where both are. The point (1, 1) rises out of the plane, and a sheet can pass below it. Turn the picture."],
        question: "Find weights and a bias that are right on all four points.",
        answer: ["For example w = (1, 1, −2) and b = −½: the activations are −½, +½, −½ and +½. The perceptron found others, after 25 mistakes."],
        toy: "xor", document: { map: "conjunction" }, at: "end", panel: "space",
      },
      {
        words: ["Back in two dimensions the flat sheet is a curve. Features that are products of others bend the boundary; with D features there are about D²/2 pairs of them."],
        question: "Must all those features be written down?",
        answer: ["No. A kernel gives their dot products without them: this is the polynomial kernel of degree 2. The weights are a sum over the rows that taught, and that is all it needs."],
        toy: "xor", document: { kernel: "polynomial" }, at: "end", panel: "neuron",
      },
    ],
  },
];
