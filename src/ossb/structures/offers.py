"""What a structure can offer, by name: policies say what they need, and fit what offers it.

A structure of another package that derives from one of these offers the same, or says otherwise.
"""

MODEL = "model"  # an estimate, its leader, rates and likelihood ratios: ``models.base.Model``
DOUBTS = "doubts"  # a model that says what stands against each arm: ``models.base.Doubting``
INDEPENDENT = "independent"  # arms that tell nothing of one another
OWN_COMPONENT = "own component"  # arm x shows component x alone
FEATURES = "features"  # means that are linear in the arms' features
LINKED_FEATURES = "linked features"  # means that are a function of something linear in them
OPEN_ROWS = "open rows"  # one parameter by which any rows of features can be told apart
ITEMS = "items"  # arms that are sets of items
LISTED_PARAMETERS = "listed parameters"  # finitely many parameters to choose from
DUELS = "duels"  # arms that are pairs of items
DISTANCES = "distances"  # arms with distances that bound how far means differ
NEIGHBOURS = "neighbours"  # arms on a graph, along which means rise to one peak
